import { definitionOf, proceduresOf } from '../../server/kernel/definitions.ts';
import type { Kind } from '../../server/kernel/wire/identifiers.ts';
import { appRouter } from '../../server/router.ts';
import type { Actor, Answer } from './actor.ts';
import { subscribe } from './plan.ts';
import { password, type Service } from './service.ts';
import { startWork } from './work.ts';

/** One of each thing that an identifier can name, in the company of one admin: `employee` is the admin. */
export type Things = Record<Kind, number>;

/** A company with a member, and another one, each with one of each thing. No limit of a plan is in the way of the first. */
export async function makeTwoCompanies(service: Service) {
  const admin = await service.signIn((await service.registerCompany()).email);
  await subscribe(service, admin, 'enterprise');
  const plain = await service.addEmployee(admin);
  const neighbour = await service.signIn((await service.registerCompany({ name: 'Compilers' })).email);
  const theirs = await makeThings(service, neighbour, await service.addEmployee(neighbour));
  return { admin, plain, neighbour, theirs, own: await makeThings(service, admin, plain) };
}

let made = 0;

/** Makes them through the operations that people use. */
export async function makeThings(service: Service, admin: Actor, colleague: Actor): Promise<Things> {
  made += 1;
  const { companyId, employeeId } = admin;
  const idOf = ({ status, body }: Answer): number => {
    if (status !== 200) throw new Error(`a thing could not be made: ${JSON.stringify(body)}`);
    return body._id;
  };
  await knowClient(service);
  const person = { first_name: 'Joan', last_name: 'Clarke', email: `joan${made}@example.com`, companyId };
  const period = await submitPeriod(admin);
  const { projectId, taskId } = await startWork(admin);
  const log = { task_id: taskId, employee_id: employeeId, description: 'Gears' };
  const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T08:30:00Z' };
  const rate = { validFrom: '2026-01-01', hourlyRate: { minorUnits: 7000, currency: 'EUR' } };
  const say = (actor: Actor, message: string) =>
    actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message });
  const things = {
    company: companyId,
    employee: employeeId,
    period,
    project: projectId,
    task: taskId,
    colleague: idOf(await admin.post('/employee/add/', person)),
    taskLog: idOf(await admin.post('/tasklog/create/', { ...log, ...times })),
    rate: idOf(await admin.put(`/api/rates/${companyId}/`, { project_id: projectId, ...rate })),
    apiKey: idOf(await admin.post('/api/api-keys/', { name: 'Script', scopes: ['read'] })),
    comment: idOf(await say(admin, 'Done?')),
    session: await openSession(service, admin),
    ...(await makeWebhook(admin)),
    export: idOf(await admin.post('/api/exports/', {})),
    invitation: await openInvitation(service, admin),
  };
  // The task's owner hears of what others say.
  const answered = idOf(await say(colleague, 'Done.'));
  await service.drain();
  const { notification_id: notification } = await service.database.db
    .selectFrom('notifications')
    .where('company_id', '=', companyId)
    .where('recipient_id', '=', employeeId)
    .where('comment_id', '=', answered)
    .select('notification_id')
    .executeTakeFirstOrThrow();
  return { ...things, notification };
}

/** The OAuth client of the documented example. */
async function knowClient({ database, clock }: Service): Promise<void> {
  const { client_id, redirect_uri } = definitionOf(proceduresOf(appRouter).get('oauth.authorizeClient')!).meta!
    .example as {
    client_id: string;
    redirect_uri: string;
  };
  const now = clock.now();
  const expires_at = new Date(now.getTime() + 24 * 3_600_000);
  await database.db
    .insertInto('oauth_clients')
    .values({ client_id, name: 'Planner', redirect_uris: [redirect_uri], created_at: now, expires_at })
    .onConflict((conflict) => conflict.column('client_id').doUpdateSet({ expires_at }))
    .execute();
}

/** A period that waits for a decision, whose days have no log. */
async function submitPeriod(admin: Actor): Promise<number> {
  await admin.put(`/api/time-policy/${admin.companyId}/`, { requireApproval: true, weekStart: 'monday' });
  const asked = { employee_id: admin.employeeId, period_start: '2026-01-12' };
  return (await admin.post('/api/timesheet-periods/submit/', asked)).body._id;
}

/** A webhook and a message for it. */
async function makeWebhook(admin: Actor): Promise<{ webhook: number; webhookDelivery: number }> {
  const events = ['comment.created'];
  const made = await admin.post('/api/webhooks/', { url: 'https://hooks.example.com/work', events });
  const sent = await admin.post(`/api/webhooks/${made.body._id}/test/`);
  return { webhook: made.body._id, webhookDelivery: sent.body._id };
}

/** An invitation by another company, which every session of the person may accept. */
async function openInvitation(service: Service, admin: Actor): Promise<number> {
  const inviter = await service.registerCompany();
  const names = { first_name: 'Ada', last_name: 'Lovelace' };
  await inviter.post('/employee/add/', { ...names, email: admin.email, companyId: inviter.companyId });
  await service.database.db
    .updateTable('sessions')
    .set({ address_proved_at: new Date(service.clock.now().getTime() + 1) })
    .where('account_id', 'in', (eb) => eb.selectFrom('accounts').select('account_id').where('email', '=', admin.email))
    .execute();
  return (await admin.get('/api/invitations/')).body.invitations.at(-1)._id;
}

/** A further session of the same person, as from another device. */
async function openSession({ anonymous, as }: Service, { email, companyId }: Actor): Promise<number> {
  const { body } = await anonymous.post('/login/', { email, password, company_id: companyId });
  const { sessions } = (await as(body).get('/api/sessions/')).body as {
    sessions: { _id: number; isCurrent: boolean }[];
  };
  return sessions.find(({ isCurrent }) => isCurrent)!._id;
}
