import { z } from 'zod';
import { nextCursor } from '../../kernel/wire/cursor.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

const values = z.record(z.string(), z.unknown()).nullable();

const Change = z.object({
  event: z.string().meta({ description: 'What happened, as events name it', examples: ['task.updated'] }),
  kind: z.string().meta({ description: 'The kind of thing that changed', examples: ['task'] }),
  id: z
    .int()
    .nullable()
    .meta({ description: 'Which thing of that kind', examples: [12] }),
  before: values.meta({
    description: 'The changed fields as they were; all fields of what was deleted; null for what was made',
    examples: [{ status: 'todo' }],
  }),
  after: values.meta({
    description: 'The changed fields as they are since; all fields of what was made; null for what was deleted',
    examples: [{ status: 'done' }],
  }),
});

export const AuditEntry = z
  .object({
    _id: z.int().meta({ description: 'Number of the row; they have gaps', examples: [104] }),
    at: moment.meta({ description: 'When it was written, by the clock of the database' }),
    operation: z.string().meta({
      description:
        'The operation, as the client names it; of a job its name; `*` stands for further refusals that were only counted',
      examples: ['tasks.update'],
    }),
    result: z
      .enum(['done', 'refused'])
      .meta({ description: 'Refused: a failed sign-in, or a call that this caller may not make; it changed nothing' }),
    errorCode: z
      .string()
      .nullable()
      .meta({ description: 'Why it was refused', examples: ['ADMIN_REQUIRED'] }),
    times: z.int().meta({ description: 'How many times the same was refused in a row', examples: [1] }),
    employee_id: idOf('employee').nullable().meta({ description: 'The employee who did it; null if it was none' }),
    accountId: z
      .int()
      .nullable()
      .meta({ description: 'The account of the session', examples: [7] }),
    apiKeyId: z
      .int()
      .nullable()
      .meta({ description: 'The API key that was used', examples: [3] }),
    sessionId: z
      .int()
      .nullable()
      .meta({ description: 'The session that was used', examples: [31] }),
    network: z
      .string()
      .nullable()
      .meta({ description: "The caller's address, IPv6 by its /64; null for a job", examples: ['192.0.2.7'] }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'Identifier of the request, as in the log', examples: ['b4c5e0f2'] }),
    transport: z
      .enum(['rest', 'trpc', 'mcp', 'job'])
      .meta({ description: 'How it was called; `mcp`: by an agent; `job`: by the service itself, later' }),
    subject: z
      .object({
        kind: z.string().meta({ description: 'The kind of thing', examples: ['task'] }),
        id: z
          .int()
          .nullable()
          .meta({ description: 'Which one of that kind', examples: [12] }),
      })
      .nullable()
      .meta({ description: 'What it was done to' }),
    changes: z.array(Change).meta({ description: 'What it changed; empty for what was refused' }),
  })
  .meta({ id: 'AuditEntry' });

export type AuditEntryRecord = z.input<typeof AuditEntry>;

export const AuditPage = z.object({
  results: z.array(AuditEntry),
  nextCursor,
});

const sealName = {
  seal: z.int().meta({ description: 'Number of the seal in the chain of the company', examples: [88] }),
  hash: z.string().meta({
    description: 'SHA-256 of its signed statement, in base64url',
    examples: ['n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'],
  }),
};

export const AuditVerdict = z
  .object({
    isIntact: z.boolean().meta({ description: 'Whether nothing is wrong in what was checked' }),
    problem: z
      .object({
        kind: z
          .enum(['row changed', 'row removed', 'row inserted', 'seal changed', 'seal removed', 'unknown key'])
          .meta({ description: '`unknown key`: the last seals are signed with a key that the service has no more' }),
        seal: sealName.seal,
        rowId: z
          .int()
          .nullable()
          .meta({ description: 'The row, `_id`; null if it is a seal', examples: [104] }),
      })
      .nullable()
      .meta({ description: 'The first thing that is wrong' }),
    checkedSeals: z.int().meta({ description: 'How many seals this call has verified', examples: [88] }),
    checkedRows: z.int().meta({ description: 'How many rows are under them', examples: [1042] }),
    erasedRows: z.int().meta({
      description: 'How many of them have lost values of a person who was erased, by signed statements of the service',
      examples: [0],
    }),
    unsealedRows: z
      .int()
      .meta({ description: 'Rows since the last seal, usually of the last minute; nothing proves them yet' }),
    oldestUnsealedAt: moment.nullable().meta({ description: 'When the oldest of them was written; null without any' }),
    lastSeal: z
      .object({ ...sealName, sealedAt: moment.meta({ description: 'When it was made' }) })
      .nullable()
      .meta({
        description: 'The last seal that was checked: store it elsewhere, and send it as `knownSeal` and `knownHash`',
      }),
    next: z
      .int()
      .nullable()
      .meta({
        description: 'Send it as `after` to go on; null if everything was checked',
        examples: [88],
      }),
  })
  .meta({ id: 'AuditVerdict' });
