/* What the command knows of an operation. `npm run generate` writes all of them to table.ts. */

/** How the value of a flag is read; `file` and `textFile` take the path of a file. */
export type FieldType = 'text' | 'integer' | 'number' | 'boolean' | 'json' | 'file' | 'textFile';

/** A field of an input. */
export type Field = {
  type: FieldType;
  /** Several values: its flag is repeated. */
  isList?: true;
  isNullable?: true;
  isRequired?: true;
  /** Never a value on the command line, where other people of the machine could read it: it is asked for. */
  isSecret?: true;
  /** Taken from the session where it is absent. */
  fromSession?: 'company' | 'employee';
  /** What its identifier identifies. */
  kind?: string;
  values?: readonly string[];
  description?: string;
};

export type Command = {
  /** The method of the client, such as `tasks.list`; of a file `timesheets.csv`. */
  operation: string;
  does: 'query' | 'mutation' | 'subscription' | 'download';
  /** Open operations need no sign-in. */
  isOpen?: true;
  /** How its answer goes on: by `page`, or by `cursor`. */
  pages?: 'page' | 'cursor';
  /** The heading of the documented interface under which it is. */
  section: string;
  rest?: string;
  summary: string;
  description?: string;
  example?: Record<string, unknown>;
  /** The fields that stand for themselves on the command line, without their flags. */
  operands: readonly string[];
  fields: Record<string, Field>;
};

/** `taskLogs` and `company_id` as words of the command line. */
export function kebabCase(name: string): string {
  return name
    .replace(/^_/, '')
    .replaceAll('_', '-')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

/** Flags of every command that makes a call. No field may have one of these names; the generator refuses it. */
export const ownFlags = ['all', 'help', 'input', 'json', 'output'] as const;
