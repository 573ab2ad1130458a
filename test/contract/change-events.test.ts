import { expect, test } from 'vitest';
import { changeEvents } from '../../server/features/change-events/catalogue.ts';
import { definitionOf, proceduresOf } from '../../server/kernel/definitions.ts';
import { appRouter } from '../../server/router.ts';

/*
 * Every mutation declares the change events that it records (`changes`), or is listed here with the reason why it has none. That
 * a mutation records no other events is checked wherever tests call it: an undeclared one fails their file.
 */

const ofAccount = 'concerns an account and its sessions, which are in the security log: nothing of a company changes';
const ofComments = 'has events of its own, in the stream of the task (`comments.onTask`)';
const ofNotifications = 'has events of its own, in the stream of the recipient (`notifications.onMine`)';

const ofSettings = 'is a setting of the company, whose changes are in the audit log';
const ofMoney = 'is money, which only admins may see: its changes are in the audit log';
const ofWebhooks = 'sets up or repeats the delivery of events, and is in the audit log';

const ofExports = 'makes or removes a copy of what is there, and is in the audit log';

const silent: Record<string, string> = {
  'auth.login': ofAccount,
  'auth.logout': ofAccount,
  'auth.refresh': ofAccount,
  'auth.tokenLogin': ofAccount,
  'auth.verifyEmail': ofAccount,
  'comments.create': ofComments,
  'comments.delete': ofComments,
  'comments.like': ofComments,
  'comments.unlike': ofComments,
  'comments.update': ofComments,
  'employees.endSessions': ofAccount,
  'exports.create': ofExports,
  'exports.delete': ofExports,
  'notifications.clear': ofNotifications,
  'notifications.delete': ofNotifications,
  'notifications.read': ofNotifications,
  'notifications.readAll': ofNotifications,
  'notifications.update': ofNotifications,
  'notifications.updatePreferences': 'is a setting of one person, which nothing else depends on',
  'passwords.requestReset': ofAccount,
  'registration.requestCode': ofAccount,
  'sessions.end': ofAccount,
  'rates.applyToLogs': ofMoney,
  'rates.delete': ofMoney,
  'rates.set': ofMoney,
  'timePolicies.update': ofSettings,
  'holidays.replace': ofSettings,
  'workingHours.set': 'is a setting of one employee, which is personal: its changes are in the audit log',
  'webhooks.create': ofWebhooks,
  'webhooks.delete': ofWebhooks,
  'webhooks.recover': ofWebhooks,
  'webhooks.resend': ofWebhooks,
  'webhooks.rotateSecret': ofWebhooks,
  'webhooks.test': ofWebhooks,
  'webhooks.update': ofWebhooks,
};

const mutations = [...proceduresOf(appRouter)].flatMap(([name, procedure]) => {
  const { type, meta } = definitionOf(procedure);
  return type === 'mutation' ? [{ name, changes: meta?.changes ?? [] }] : [];
});

test('every mutation records change events, or says why not', () => {
  const without = mutations.filter(({ changes }) => changes.length === 0).map(({ name }) => name);
  expect(without.toSorted()).toEqual(Object.keys(silent).toSorted());
});

test('every change event is one of the catalogue, and is recorded by some mutation', () => {
  const recorded = new Set(mutations.flatMap(({ changes }) => changes));
  expect([...recorded].filter((event) => !changeEvents.includes(event))).toEqual([]);
  expect(changeEvents.filter((event) => !recorded.has(event)).map(({ type }) => type)).toEqual([]);
});
