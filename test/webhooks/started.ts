import { expect } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { startService, type Service } from '../support/service.ts';

/* What tests of webhooks share: a service that may send to this machine, and the calls around a webhook. */

export const startWithWebhooks = (settings: object = {}): Promise<Service> =>
  startService({ settings: { webhookNetworks: ['127.0.0.1'], ...settings } });

export type Made = { _id: number; secret: string };

export async function makeWebhook(
  admin: Actor,
  url: string,
  events = ['comment.created', 'comment.edited', 'comment.deleted', 'comment.liked', 'comment.unliked'],
): Promise<Made> {
  const { status, body } = await admin.post('/api/webhooks/', { url, events });
  expect([status, body.code]).toEqual([200, undefined]);
  return body;
}

/** Writes a comment; returns its identifier. */
export async function say(actor: Actor, taskId: number, message: string): Promise<number> {
  const { status, body } = await actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message });
  expect(status).toBe(200);
  return body._id;
}

export const deliveriesOf = async (admin: Actor, { _id }: Made) =>
  (await admin.get(`/api/webhooks/${_id}/deliveries/`)).body.deliveries;
