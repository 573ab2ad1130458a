import { readAbout } from '../comments/schemas.ts';

/*
 * The events that webhooks receive. What concerns one person only, such as their notifications, is not offered, nor what is
 * read (`comment.seen`), which would be most of all messages.
 */
const commentEvents = [
  'comment.created',
  'comment.edited',
  'comment.deleted',
  'comment.liked',
  'comment.unliked',
] as const;

/** The change events, by their names, so that clients have them as types. A company has no webhook before it is created. */
const changeEvents = [
  'task.created',
  'task.updated',
  'task.deleted',
  'task_log.created',
  'task_log.updated',
  'task_log.deleted',
  'timer.started',
  'timer.stopped',
  'period.submitted',
  'period.decided',
  'period.reopened',
  'project.created',
  'project.updated',
  'project.deleted',
  'project.imported',
  'employee.created',
  'employee.updated',
  'employee.declined',
  'employee.deleted',
  'employee.restored',
  'employee.erased',
  'company.updated',
  'company.closed',
  'company.reopened',
  'api_key.created',
  'api_key.revoked',
] as const;

export const webhookEvents = [...changeEvents, ...commentEvents] as const;

/** The event that an admin sends to try an endpoint. */
export const testEvent = 'webhook.test';

/** Whether the payload is stored as it was before there were webhooks: that of all others is what they receive. */
const isAboutComment = (type: string): boolean => (commentEvents as readonly string[]).includes(type);

/** The `data` of a message, of the stored payload of its event. The same for each attempt, so nothing is looked up. */
export const toData = (type: string, payload: unknown): unknown =>
  isAboutComment(type) ? readAbout(payload) : payload;
