import { z } from 'zod';
import { id, moment } from '../../kernel/wire.ts';
import { appTypes, categories, priorities } from './notify.ts';

export const Notification = z
  .object({
    _id: id,
    recipient_id: id,
    app_type: z.enum(appTypes),
    category: z.enum(categories),
    priorty: z.enum(priorities).meta({ description: 'The priority; spelled so throughout the interface' }),
    title: z.string(),
    message: z.string(),
    link: z.string().nullable(),
    actor: z.object({ _id: id, name: z.string() }).nullable().meta({ description: 'Who caused it' }),
    taskId: id.nullable(),
    commentId: id.nullable(),
    projectId: id.nullable(),
    isMention: z.boolean(),
    read: z.boolean(),
    starred: z.boolean(),
    later: z.boolean(),
    isArchive: z.boolean(),
    createdAt: moment,
  })
  .meta({ id: 'Notification' });
