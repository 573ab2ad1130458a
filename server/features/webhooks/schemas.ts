import { z } from 'zod';
import { rule } from '../../errors/issues.ts';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { testEvent, webhookEvents } from './event-types.ts';

const urlMax = 2_048;
const descriptionMax = 200;

function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** What a caller says of an endpoint. */
export const webhookFields = {
  url: text({ max: urlMax })
    .refine(isPlainUrl, rule('invalid_format', 'must be an https URL without a user'))
    .meta({
      description:
        'Where messages are posted: an https URL of a public address, without a user. Its path and query may hold a secret: only admins see it',
      examples: ['https://hooks.example.com/work'],
    }),
  events: z
    .array(z.enum(webhookEvents))
    .min(1)
    .max(webhookEvents.length)
    .meta({ description: 'The types of events that it receives', examples: [['comment.created', 'comment.edited']] }),
  description: text({ max: descriptionMax })
    .nullish()
    .meta({ description: 'What it is for; null for nothing', examples: ['Comments in our chat'] }),
};

export const Webhook = z
  .object({
    _id: idOf('webhook'),
    companyId: idOf('company'),
    url: webhookFields.url,
    events: z
      .array(z.string())
      .meta({ description: 'The types of events that it receives', examples: [['comment.created', 'comment.edited']] }),
    description: z.string().nullable().meta({ description: 'What it is for; null for nothing' }),
    isEnabled: z.boolean().meta({ description: 'Whether it receives messages' }),
    disabledBecause: z.enum(['gone', 'failing']).nullable().meta({
      description:
        'Why the service has disabled it: `gone` where it answered 410, `failing` after five days of failures; null otherwise',
    }),
    failingSince: moment.nullable().meta({
      description: 'Since when all attempts have failed; null where the last one succeeded',
      examples: [null],
    }),
    previousSecretUntil: moment.nullable().meta({
      description: 'Until when the secret from before the last rotation signs too; null where it does not any more',
      examples: [null],
    }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Webhook' });

export const WebhookWithSecret = Webhook.extend({
  secret: z.string().meta({
    description: 'The secret that signs: `whsec_` and 32 bytes in base64. Shown in this answer and never again',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
  }),
}).meta({ id: 'WebhookWithSecret' });

const WebhookAttempt = z.object({
  at: moment.meta({ description: 'When it began' }),
  durationMs: z.int().meta({ description: 'How long it took', examples: [84] }),
  status: z
    .int()
    .nullable()
    .meta({ description: 'The status of the answer; null where none came', examples: [204] }),
  error: z
    .string()
    .nullable()
    .meta({ description: 'Why no answer came; null where one did', examples: [null] }),
  answer: z
    .string()
    .nullable()
    .meta({ description: 'How the answer begins, up to 1 KiB; null where none came', examples: [''] }),
});

/** So many attempts of a message are kept: resending it must not make its list longer and longer. */
export const keptAttemptsMax = 20;

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;

export const WebhookDelivery = z
  .object({
    _id: idOf('webhookDelivery'),
    webhookId: idOf('webhook'),
    messageId: z.string().meta({
      description: 'The header `webhook-id`, the same at each attempt',
      examples: ['msg_0b7c4a30a6f74f0b9c4d5e6f7a8b9c0d'],
    }),
    type: z
      .string()
      .meta({ description: `The type of the event; \`${testEvent}\` for a test`, examples: ['comment.created'] }),
    stream: z
      .string()
      .nullable()
      .meta({ description: 'The stream of the event; null for a test', examples: ['task 12'] }),
    sequence: z
      .int()
      .nullable()
      .meta({
        description: 'The number of the event in its stream, where some may be missing; null for a test',
        examples: [17],
      }),
    state: z.enum(deliveryStates).meta({
      description: '`pending` until it is `delivered`, or has `failed` for the last time',
      examples: ['delivered'],
    }),
    attempts: z
      .array(WebhookAttempt)
      .meta({ description: `The last ${keptAttemptsMax} attempts of the last 30 days, the first one first` }),
    nextAttemptAt: moment
      .nullable()
      .meta({ description: 'When it is tried next; null where it is not', examples: [null] }),
    createdAt: moment.meta({ description: 'When the event happened' }),
  })
  .meta({ id: 'WebhookDelivery' });
