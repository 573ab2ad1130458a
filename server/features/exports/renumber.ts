import { isReference, type Table } from '../../../db/catalogue.ts';
import { BadArchive } from './read-archive.ts';
import { companyTables, exportedColumns } from './statements.ts';

/** The new numbers of the rows of an import, by their numbers in the file. `where` is the place in the file, for errors. */
export type Numbers = {
  /** Notes the new number of a row, if other rows may refer to it. */
  note(table: Table, old: unknown, id: number, where: string): void;
  /** The new number of the row that is referred to. */
  of(table: Table, old: unknown, where: string): number;
  /** A link in the frontend with the new numbers. */
  inLink(link: string): string;
};

/** The tables to which columns of exported tables refer, and those in links. */
const referred = new Set<Table>(
  companyTables.flatMap((table) =>
    exportedColumns(table).flatMap(([, label]) => (isReference(label) ? [label.table] : [])),
  ),
).add('timesheet_periods');

/** The tables whose numbers are in links, by the words before them. */
const linked: Record<string, Table> = {
  tasks: 'tasks',
  projects: 'projects',
  'timesheet-periods': 'timesheet_periods',
  comment: 'comments',
};

export function createNumbers(): Numbers {
  const numbers = new Map([...referred].map((table) => [table, new Map<unknown, number>()]));
  return {
    note(table, old, id, where) {
      const known = numbers.get(table);
      if (!known) return;
      if (!Number.isSafeInteger(old)) throw new BadArchive(`${where} has no number.`);
      if (known.has(old)) throw new BadArchive(`${where} has the number of an earlier line.`);
      known.set(old, id);
    },
    of(table, old, where) {
      const id = numbers.get(table)?.get(old);
      if (id === undefined) throw new BadArchive(`${where} refers to a row of ${table} that is not in the file.`);
      return id;
    },
    // What only a link leads to may be gone: then the link leads nowhere, as before.
    inLink: (link) =>
      link.replaceAll(
        /\b(tasks|projects|timesheet-periods|comment)([/=])(\d+)/g,
        (_, word: string, sign: string, old: string) =>
          `${word}${sign}${numbers.get(linked[word]!)?.get(Number(old)) ?? 0}`,
      ),
  };
}
