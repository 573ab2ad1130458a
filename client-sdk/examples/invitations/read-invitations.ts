import type { Table, TableRow } from '../terminal/read-table.ts';
import type { LineProblem } from '../terminal/sentences.ts';

export const columns = [
  'email',
  'first_name',
  'last_name',
  'designation',
  'phone',
  'salary',
  'is_admin',
  'is_team_leader',
] as const;
type Column = (typeof columns)[number];

/** Somebody to invite, as the service takes them, and what they are to be. */
export type Invitation = {
  line: number;
  email: string;
  first_name: string;
  last_name: string;
  designation: string | null;
  phone: string | null;
  salary: number | null;
  is_admin: boolean;
  is_team_leader: boolean;
};

/** Checks every row by all that can be known before it is sent. */
export function readInvitations({ rows, problems: shapes }: Table<Column>): {
  invitations: Invitation[];
  problems: LineProblem[];
} {
  const lines = new Map<string, number>();
  const problems = [...shapes];
  const invitations = rows.map((row) => {
    const invitation = toInvitation(row, (problem) => problems.push({ line: row.line, problem }));
    const earlier = lines.get(invitation.email);
    if (earlier === undefined) lines.set(invitation.email, row.line);
    else problems.push({ line: row.line, problem: `the e-mail address is on line ${earlier} already` });
    return invitation;
  });
  return { invitations, problems: problems.toSorted((a, b) => a.line - b.line) };
}

/** Longest text of each column that has one. */
const longest = { email: 254, first_name: 100, last_name: 100, designation: 200, phone: 40 } as const;

function toInvitation({ line, cells }: TableRow<Column>, refuse: (problem: string) => void): Invitation {
  for (const [column, max] of Object.entries(longest) as [keyof typeof longest, number][])
    if (cells[column].length > max) refuse(`${column} must have at most ${max} characters`);
  if (!/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(cells.email)) refuse(`"${cells.email}" is no e-mail address`);
  for (const column of ['first_name', 'last_name'] as const) if (cells[column] === '') refuse(`${column} is empty`);
  const salary = cells.salary === '' ? null : Number(cells.salary);
  if (salary !== null && !/^\d{1,12}(\.\d{1,2})?$/.test(cells.salary))
    refuse(`salary must be a number such as 52000 or 52000.50, not "${cells.salary}"`);

  const flag = (column: 'is_admin' | 'is_team_leader'): boolean => {
    const value = words.get(cells[column].toLowerCase());
    if (value === undefined) refuse(`${column} must be yes or no, not "${cells[column]}"`);
    return value ?? false;
  };
  return {
    line,
    email: cells.email.toLowerCase(),
    first_name: cells.first_name,
    last_name: cells.last_name,
    designation: cells.designation || null,
    phone: cells.phone || null,
    salary,
    is_admin: flag('is_admin'),
    is_team_leader: flag('is_team_leader'),
  };
}

const words = new Map([
  ...['yes', 'y', 'true', '1', 'x'].map((word) => [word, true] as const),
  ...['no', 'n', 'false', '0', ''].map((word) => [word, false] as const),
]);
