import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { appTypes, categories, priorities } from './kinds.ts';

export const Notification = z
  .object({
    _id: idOf('notification'),
    recipient_id: idOf('employee'),
    app_type: z.enum(appTypes).meta({ description: '`hr` for people and time, `task` for the rest' }),
    category: z.enum(categories).meta({
      description:
        '`task`: one was assigned, or made a collaborator, or a task of theirs is due tomorrow (at 08:00 in the time zone of the company); `project`: one was made its owner, or its hours or its budget are exceeded (admins); `message`: comments and likes; `notice`: company-wide, such as another name or time zone, or a trial that ends in three days; `need_attention`: what waits for the reader, such as a task of theirs that is overdue (told once, on the morning after), a period that ends today and was not handed in (at 08:00, where periods are approved), a timer that was closed after 24 hours, or a project that has used 50 or 80 % of its hours or budget (admins)',
    }),
    priorty: z.enum(priorities).meta({
      description:
        '`primary`: it concerns the reader directly; `updates`: something that they follow moved on; `activity`: likes; `others`: notices. Spelled so throughout the interface',
    }),
    title: z.string(),
    message: z.string(),
    link: z.string().nullable(),
    actor: z
      .object({ _id: idOf('employee'), name: z.string() })
      .nullable()
      .meta({ description: 'Who caused it' }),
    taskId: idOf('task').nullable(),
    commentId: idOf('comment').nullable(),
    projectId: idOf('project').nullable(),
    isMention: z.boolean(),
    read: z.boolean(),
    starred: z.boolean(),
    later: z.boolean(),
    isArchive: z.boolean(),
    createdAt: moment,
  })
  .meta({ id: 'Notification' });
