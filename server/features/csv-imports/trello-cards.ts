import { quote } from './cell-problem.ts';
import { lengths, toKey, type Drafts, type Reading } from './drafts.ts';
import { checkText, type Columns } from './read-table.ts';
import type { RowReader } from './row-reader.ts';
import { readCompletion, readDueDate } from './task-dates.ts';

/* A board of Trello: a row is a card, which becomes a task. */

type Field = 'id' | 'name' | 'board' | 'list' | 'description' | 'members' | 'dueDate' | 'archived' | 'lastActivity';

export const trelloColumns: Columns<Field> = {
  id: { names: ['Card ID'], isRequired: true },
  name: { names: ['Card Name'], isRequired: true },
  board: { names: ['Board Name'], isRequired: true },
  list: { names: ['List Name'], isRequired: true },
  description: { names: ['Card Description'] },
  members: { names: ['Members'] },
  dueDate: { names: ['Due Date'] },
  archived: { names: ['Archived'] },
  lastActivity: { names: ['Last Activity Date'] },
};

const membersMax = 101;

/** Adds what a row says to the drafts. */
export function readCard(row: RowReader<Field>, reading: Reading, drafts: Drafts): void {
  const card = row.needed('id', lengths.person);
  const project = row.needed('board', lengths.project);
  const title = row.needed('name', lengths.title);
  if (card === undefined || project === undefined || title === undefined) return;
  const key = toKey('task', card);
  if (drafts.tasks.has(key)) return row.refuse('id', `${quote(card)} is there in an earlier row`, 'duplicate');
  const status = row.cell('archived').toLowerCase() === 'true' ? 'done' : reading.statusOf([row.cell('list')])!;
  const [ownerId = null, ...collaboratorIds] = readMembers(row, reading);
  drafts.tasks.set(key, {
    line: row.line,
    key,
    project,
    title,
    description: row.text('description', lengths.taskDescription),
    status,
    ownerId,
    collaboratorIds,
    dueDate: readDueDate(row, reading),
    estimatedHours: null,
    completedAt: status === 'done' ? readCompletion(row, ['lastActivity'], reading) : null,
  });
}

/** Members in the order of the file, each once: `Ada Lovelace (ada), grace`. */
function readMembers(row: RowReader<Field>, { findPerson }: Reading): number[] {
  const split = (text: string) =>
    text
      .split(',')
      .map((member) => member.trim())
      .filter((member) => member !== '');
  const members = row.parse('members', split, membersMax * lengths.person) ?? [];
  if (members.length > membersMax)
    return row.refuse('members', `names more than ${membersMax} people`, 'too_big') ?? [];
  const found = members.map((member) => {
    const account = /\(([^()]*)\)$/.exec(member);
    const name = account ? member.slice(0, account.index).trimEnd() : '';
    return row.read('members', () => findPerson([checkText(member, lengths.person), name, account?.[1] ?? '']));
  });
  return [...new Set(found.filter((id) => id !== undefined))];
}
