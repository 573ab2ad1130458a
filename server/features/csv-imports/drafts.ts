import { createHash } from 'node:crypto';
import type { TaskStatus } from '../tasks/queries.ts';
import type { DateReader, Zone } from './local-time.ts';
import type { FindPerson } from './people.ts';
import type { RowError } from './row-reader.ts';
import type { Source } from './schemas.ts';

/** What the rows of a file say: tasks and the time on them, not yet compared with what the company has. */
export type Drafts = {
  /** By their references. */
  tasks: Map<string, TaskDraft>;
  logs: LogDraft[];
  errors: RowError[];
  /** How many rows have something in them. */
  rows: number;
  /** Rows with time of no length, which is left out. */
  emptyLines: Set<number>;
};

export type TaskDraft = {
  /** The first row that names it. */
  line: number;
  /** Identifies the task in its source; null where any task of that title in the project is meant. */
  key: string | null;
  project: string;
  title: string;
  description: string | null;
  status: TaskStatus;
  ownerId: number | null;
  collaboratorIds: readonly number[];
  dueDate: string | null;
  estimatedHours: number | null;
  completedAt: Date | null;
};

export type LogDraft = {
  line: number;
  /** The column of its start, for messages. */
  column: string;
  key: string;
  /** The reference of its task. */
  task: string;
  employeeId: number;
  start: Date;
  end: Date;
  description: string | null;
  /** That of the project if undefined. */
  billable: boolean | undefined;
};

/** What rows are read with. */
export type Reading = {
  source: Source;
  dates: DateReader;
  zone: Zone;
  findPerson: FindPerson;
  /** One name for those that the caller maps to one project. */
  projectName: (name: string) => string;
  statusOf: (names: readonly string[]) => TaskStatus | undefined;
  now: Date;
};

/** Identifies what a row becomes, whatever format it is exported in. */
export const toKey = (kind: 'task' | 'log', ...parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, ...parts]))
    .digest('base64url');

/** The limits of the fields, as for those that are entered by hand, and of a date, time, duration or flag. */
export const lengths = {
  project: 200,
  title: 300,
  taskDescription: 20_000,
  logDescription: 10_000,
  person: 320,
  parsed: 320,
};
