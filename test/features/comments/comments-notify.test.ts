import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { commentCreated } from '../../../server/features/comments/jobs.ts';
import { enqueueJob } from '../../../server/kernel/job.ts';
import { type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

const service = await startService();
const { database, mailbox } = service;

let ada: Actor;
let grace: Actor;
let alan: Actor;
let joan: Actor;

beforeAll(async () => {
  ada = await service.registerCompany();
  grace = await service.addEmployee(ada, { first_name: 'Grace', last_name: 'Hopper' });
  alan = await service.addEmployee(ada, { first_name: 'Alan', last_name: 'Turing' });
  joan = await service.addEmployee(ada, { first_name: 'Joan', last_name: 'Clarke' });
  await service.drain();
});

async function write(actor: Actor, taskId: number, message: string, more: object = {}): Promise<number> {
  const { status, body } = await actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message, ...more });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body._id;
}

/** Who was told of a comment, and how. */
async function toldOf(commentId: number) {
  const rows = await database.db
    .selectFrom('notifications')
    .where('company_id', '=', ada.companyId)
    .where('comment_id', '=', commentId)
    .select(['recipient_id', 'priority', 'is_mention'])
    .orderBy('recipient_id')
    .execute();
  return rows.map((row) => [row.recipient_id, row.priority, row.is_mention]);
}

const mentionsTo = (actor: { email: string }) => mailbox.to(actor.email).filter((mail) => mail.template === 'mention');

/** Runs the job of a new comment once more, as after a crash behind its commit. */
async function runAgain(commentId: number): Promise<void> {
  await enqueueJob(database.db, commentCreated, {
    dedupeKey: String(commentId),
    payload: { companyId: ada.companyId, commentId },
    now: service.clock.now(),
  });
  await service.drain();
}

const wishMailAlone = (actor: Actor) =>
  actor.put(`/api/notification-preferences/${actor.employeeId}/`, { message: { inApp: false, email: true } });

const insertWish = ({ companyId: company_id, employeeId: employee_id }: Pick<Actor, 'companyId' | 'employeeId'>) =>
  database.db
    .insertInto('notification_preferences')
    .values({
      company_id,
      employee_id,
      category: 'message',
      in_app: false,
      email: true,
      updated_at: service.clock.now(),
    })
    .execute();

async function setStanding(actor: Actor, standing: { is_active: boolean; is_deleted?: boolean }): Promise<void> {
  await database.db
    .updateTable('employees')
    .set(standing)
    .where('company_id', '=', actor.companyId)
    .where('employee_id', '=', actor.employeeId)
    .execute();
}

describe('a comment', () => {
  test('tells the mentioned first, then the owner and collaborators, each once, and never its author', async () => {
    const taskId = await insertTask(service, ada, { collaborators: [grace, alan, joan] });
    const message = `<p>@${alan.email} and @${grace.email.toUpperCase()}, also me: @${grace.email}</p>`;
    const commentId = await write(grace, taskId, message, { mentionedEmails: [alan.email, grace.email] });
    await service.drain();
    expect(await toldOf(commentId)).toEqual([
      [ada.employeeId, 'updates', false],
      [alan.employeeId, 'primary', true],
      [joan.employeeId, 'updates', false],
    ]);
  });

  test('makes notifications that lead to it', async () => {
    const taskId = await insertTask(service, ada, { title: 'Weave the cards' });
    const commentId = await write(grace, taskId, '<p>Is it <b>done</b> &amp; tested?</p>');
    await service.drain();
    const row = await database.db
      .selectFrom('notifications')
      .where('company_id', '=', ada.companyId)
      .where('comment_id', '=', commentId)
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      recipient_id: ada.employeeId,
      app_type: 'task',
      category: 'message',
      title: 'Grace Hopper commented on Weave the cards',
      message: 'Is it done & tested?',
      link: `https://app.example.test/tasks/${taskId}?comment=${commentId}`,
      actor_id: grace.employeeId,
      task_id: taskId,
      is_read: false,
    });
  });

  test('tells the author of the comment that it replies to, who has no other part in the task', async () => {
    const taskId = await insertTask(service, ada);
    const first = await write(joan, taskId, 'A question');
    await service.drain();
    const reply = await write(grace, taskId, 'An answer', { reply_to: first });
    const own = await write(joan, taskId, 'Thanks to me', { reply_to: first });
    await service.drain();
    expect(await toldOf(reply)).toEqual([
      [ada.employeeId, 'updates', false],
      [joan.employeeId, 'updates', false],
    ]);
    expect(await toldOf(own)).toEqual([[ada.employeeId, 'updates', false]]);
  });

  test('tells nobody who is deactivated or deleted, however they come into it', async () => {
    const idle = await service.addEmployee(ada, { first_name: 'Idle' });
    const left = await service.addEmployee(ada, { first_name: 'Left' });
    const taskId = await insertTask(service, ada, { collaborators: [idle, left] });
    const theirs = await write(left, taskId, 'Before I go');
    await service.drain();
    await setStanding(idle, { is_active: false });
    await setStanding(left, { is_active: false, is_deleted: true });
    const commentId = await write(ada, taskId, `@${idle.email} @${left.email}`, { reply_to: theirs });
    const body = (await ada.get(`/api/tasks/chat/${taskId}/`)).body;
    expect(body.comments[0].replies[0].mentions).toEqual([]);
    await service.drain();
    expect(await toldOf(commentId)).toEqual([]);
    expect([...mentionsTo(idle), ...mentionsTo(left)]).toEqual([]);
  });

  test('tells nobody of another company, even with the same address', async () => {
    const rival = await service.registerCompany({ name: 'Rivals' });
    const both = await service.addEmployee(ada, { email: 'both@example.com' });
    await service.addEmployee(rival, { email: 'both@example.com' });
    await service.drain();
    const taskId = await insertTask(service, ada);
    await write(grace, taskId, `@both@example.com @${rival.email}`);
    await service.drain();
    expect(mentionsTo(both)).toHaveLength(1);
    expect(mentionsTo(rival)).toHaveLength(0);
    const theirs = await database.db
      .selectFrom('notifications')
      .where('company_id', '=', rival.companyId)
      .selectAll()
      .execute();
    expect(theirs).toEqual([]);
  });

  test('tells nobody once it is deleted, or its task is', async () => {
    const taskId = await insertTask(service, ada, { collaborators: [alan] });
    const before = mentionsTo(alan).length;
    const doomed = await write(grace, taskId, `@${alan.email}`);
    await database.db
      .updateTable('comments')
      .set({ is_deleted: true, message: null })
      .where('company_id', '=', ada.companyId)
      .where('comment_id', '=', doomed)
      .execute();
    await service.drain();
    const orphaned = await write(grace, taskId, `@${alan.email}`);
    await database.db
      .updateTable('tasks')
      .set({ deleted_at: service.clock.now() })
      .where('company_id', '=', ada.companyId)
      .where('task_id', '=', taskId)
      .execute();
    await service.drain();
    expect([...(await toldOf(doomed)), ...(await toldOf(orphaned))]).toEqual([]);
    expect(mentionsTo(alan)).toHaveLength(before);
  });

  test('tells and mails once when its job runs a second time', async () => {
    const taskId = await insertTask(service, ada);
    const before = mentionsTo(alan).length;
    const commentId = await write(grace, taskId, `@${alan.email}`);
    await service.drain();
    await runAgain(commentId);
    expect(await toldOf(commentId)).toHaveLength(2);
    expect(mentionsTo(alan)).toHaveLength(before + 1);
  });
});

describe('a mention', () => {
  test('is mailed with the text and the deep link, to nobody but the mentioned', async () => {
    const taskId = await insertTask(service, ada, { title: 'Weave\nthe cards', collaborators: [joan] });
    const before = mailbox.mails.length;
    const commentId = await write(grace, taskId, `<p>Please look, @${alan.email}</p><p>1 &lt; 2 <b>holds</b></p>`);
    await service.drain();
    expect(mailbox.mails.slice(before)).toHaveLength(1);
    const mail = mailbox.mails.at(-1)!;
    expect(mail).toMatchObject({
      to: alan.email,
      subject: 'Grace Hopper mentioned you in a comment',
      template: 'mention',
    });
    expect(mail.text).toContain(`Please look, @${alan.email}\n1 < 2 holds`);
    expect(mail.text).toContain(`https://app.example.test/tasks/${taskId}?comment=${commentId}`);
    expect(mail.html).toContain('1 &lt; 2 holds');
  });

  test('is mailed exactly once by a provider that fails twice', async () => {
    const taskId = await insertTask(service, ada);
    const before = mentionsTo(alan).length;
    mailbox.failNext(2);
    await write(grace, taskId, 'Look', { mentionedEmails: [alan.email] });
    for (const expected of [before, before, before + 1, before + 1]) {
      await service.drain();
      expect(mentionsTo(alan)).toHaveLength(expected);
      service.clock.advance({ minutes: 1 });
    }
  });

  test('is not mailed to an employee who is deactivated before the mail goes out', async () => {
    const leaver = await service.addEmployee(ada, { first_name: 'Leaver' });
    const taskId = await insertTask(service, ada);
    await service.drain();
    mailbox.failNext(1);
    const commentId = await write(grace, taskId, `@${leaver.email}`);
    await service.drain();
    expect(await toldOf(commentId)).toHaveLength(2);
    await setStanding(leaver, { is_active: false });
    service.clock.advance({ minutes: 1 });
    await service.drain();
    expect(mentionsTo(leaver)).toEqual([]);
  });

  test('is not mailed to an employee who wants no such mail, and a wish of one’s own goes before the company’s', async () => {
    const quiet = await service.addEmployee(ada, { first_name: 'Quiet' });
    const taskId = await insertTask(service, ada);
    const wish = { company_id: ada.companyId, category: 'message' };
    const setCompanyWish = (email: boolean) =>
      database.db
        .updateTable('notification_setups')
        .set({ email })
        .where('company_id', '=', ada.companyId)
        .where('category', '=', 'message')
        .execute();
    await database.db
      .insertInto('notification_preferences')
      .values({ ...wish, employee_id: quiet.employeeId, in_app: true, email: false, updated_at: service.clock.now() })
      .execute();
    await database.db
      .insertInto('notification_preferences')
      .values({ ...wish, employee_id: joan.employeeId, in_app: true, email: true, updated_at: service.clock.now() })
      .execute();
    const before = [mentionsTo(alan).length, mentionsTo(joan).length];
    const all = { mentionedEmails: [quiet.email, alan.email, joan.email] };

    const commentId = await write(grace, taskId, 'First', all);
    await service.drain();
    expect(await toldOf(commentId)).toContainEqual([quiet.employeeId, 'primary', true]);
    await setCompanyWish(false);
    await write(grace, taskId, 'Second', all);
    await service.drain();
    await setCompanyWish(true);
    expect(mentionsTo(quiet)).toEqual([]);
    expect([mentionsTo(alan).length, mentionsTo(joan).length]).toEqual([before[0]! + 1, before[1]! + 2]);
  });
});

describe('mails of mentions', () => {
  test('are at most 20 an hour to one person, who is notified of every mention', async () => {
    const taskId = await insertTask(service, ada);
    const busy = await service.addEmployee(ada, { first_name: 'Busy' });
    for (let n = 1; n <= 23; n += 1) await write(grace, taskId, `@${busy.email} ${n}`);
    await service.drain();
    expect(mentionsTo(busy)).toHaveLength(20);
    const { body } = await busy.get(`/notifications/recipient/${busy.employeeId}/?isMention=true`);
    expect(body.total).toBe(23);
  });

  test('are at most 3 a day to an address that has not accepted its invitation, and pass on nothing that was written', async () => {
    const taskId = await insertTask(service, ada, { title: 'Win at evil.example' });
    const email = 'stranger@elsewhere.example';
    const invited = await ada.post('/employee/add/', {
      first_name: 'Some',
      last_name: 'Body',
      companyId: ada.companyId,
      email,
    });
    expect(invited.body.invitationStatus).toBe('pending');
    for (let n = 1; n <= 6; n += 1) {
      const id = await write(grace, taskId, `@${email} see https://evil.example/${n}`);
      await service.drain();
      // Taking a comment back gives no further mail.
      await grace.delete(`/api/taskchat/${id}/`);
    }
    const mails = mailbox.to(email).filter((mail) => mail.template === 'mention');
    expect(mails).toHaveLength(3);
    for (const { subject, text, html } of mails) {
      expect(subject).toBe('You were mentioned in a comment');
      expect(text + html).not.toContain('evil.example');
    }
  });

  test('are at most 3 within any day to such an address', async () => {
    const taskId = await insertTask(service, ada);
    const email = 'patient@elsewhere.example';
    await ada.post('/employee/add/', { first_name: 'Some', last_name: 'Body', companyId: ada.companyId, email });
    const mention = async (times: number) => {
      const author = await service.signIn(grace.email);
      for (let n = 1; n <= times; n += 1) await write(author, taskId, `@${email}`);
      await service.drain();
    };
    await mention(1);
    service.clock.advance({ hours: 23, minutes: 50 });
    await mention(3);
    service.clock.advance({ minutes: 15 });
    await mention(4);
    expect(mentionsTo({ email })).toHaveLength(3);
    service.clock.advance({ hours: 24 });
    await mention(1);
    expect(mentionsTo({ email })).toHaveLength(4);
  });

  test('are not sent again, nor shown, where somebody who was told by mail alone wants them in the app since', async () => {
    const taskId = await insertTask(service, ada);
    const author = await service.signIn(grace.email);
    const away = await service.addEmployee(ada, { first_name: 'Later' });
    await wishMailAlone(away);
    const commentId = await write(author, taskId, 'First', { mentionedEmails: [away.email] });
    await service.drain();
    await away.put(`/api/notification-preferences/${away.employeeId}/`, { message: { inApp: true, email: true } });
    for (const mentionedEmails of [[], [away.email]])
      await author.patch(`/api/edit-task-chats/${commentId}/`, { mentionedEmails });
    await service.drain();
    expect(mentionsTo(away)).toHaveLength(1);
    expect((await away.get(`/notifications/recipient/${away.employeeId}/`)).body.total).toBe(0);
  });

  test('are limited for people who want them by mail alone as well, and are sent once for each comment', async () => {
    const taskId = await insertTask(service, ada);
    const away = await service.addEmployee(ada, { first_name: 'Away' });
    await wishMailAlone(away);
    const commentId = await write(grace, taskId, 'First', { mentionedEmails: [away.email] });
    await service.drain();
    for (const mentionedEmails of [[], [away.email], [], [away.email]]) {
      await grace.patch(`/api/edit-task-chats/${commentId}/`, { mentionedEmails });
      await service.drain();
      service.clock.advance({ seconds: 1 });
    }
    await runAgain(commentId);
    expect(mentionsTo(away)).toHaveLength(1);
    for (let n = 1; n <= 23; n += 1) await write(grace, taskId, `@${away.email} ${n}`);
    await service.drain();
    expect(mentionsTo(away)).toHaveLength(20);
    service.clock.advance({ hours: 1 });
    await write(await service.signIn(grace.email), taskId, `@${away.email}`);
    await service.drain();
    expect(mentionsTo(away)).toHaveLength(21);
  });

  test('to an address are 3 a day, whatever its employee wished before under another address', async () => {
    const taskId = await insertTask(service, ada);
    const puppet = await service.addEmployee(ada, { first_name: 'Puppet' });
    await wishMailAlone(puppet);
    const email = 'victim@elsewhere.example';
    const path = `/api/employees/${puppet.employeeId}/`;
    expect((await ada.patch(path, { email })).body).toMatchObject({ invitationStatus: 'pending' });
    const { rows } = await sql`select from notification_preferences where employee_id = ${puppet.employeeId}`.execute(
      database.db,
    );
    expect(rows).toEqual([]);
    await insertWish(puppet);
    for (let n = 1; n <= 6; n += 1) await write(grace, taskId, `${n}`, { mentionedEmails: [email] });
    await service.drain();
    expect(mentionsTo({ email })).toHaveLength(3);
  });

  test('to an address are 3 a day, however many employees have it in turn', async () => {
    const taskId = await insertTask(service, ada);
    const email = 'passed.on@elsewhere.example';
    for (let round = 1; round <= 3; round += 1) {
      const fields = { first_name: 'Round', last_name: `N${round}`, companyId: ada.companyId, email };
      const { body } = await ada.post('/employee/add/', fields);
      for (let n = 1; n <= 2; n += 1) await write(grace, taskId, `@${email} ${n}`);
      await service.drain();
      const path = `/api/employees/${body._id}/`;
      expect((await ada.patch(path, { email: `round${round}@elsewhere.example` })).status).toBe(200);
      expect((await ada.delete(path)).status).toBe(200);
    }
    expect(mentionsTo({ email })).toHaveLength(3);
  });

  test('that wait are not sent to an address that the employee has since then', async () => {
    const taskId = await insertTask(service, ada);
    const puppet = await service.addEmployee(ada, { first_name: 'Puppet' });
    await service.drain();
    mailbox.failNext(1);
    await write(grace, taskId, `@${puppet.email}`);
    await service.drain();
    const email = 'later@elsewhere.example';
    await ada.patch(`/api/employees/${puppet.employeeId}/`, { email });
    service.clock.advance({ minutes: 5 });
    await service.drain();
    expect([...mentionsTo(puppet), ...mentionsTo({ email })]).toEqual([]);
  });

  test('have no address in their subject, whatever people are called', async () => {
    const taskId = await insertTask(service, ada);
    const sender = await service.addEmployee(ada, { first_name: 'J.R.' });
    // As names of before could be.
    await service.database.db
      .updateTable('employees')
      .set({ last_name: 'https://evil.example/x' })
      .where('company_id', '=', ada.companyId)
      .where('employee_id', '=', sender.employeeId)
      .execute();
    await write(sender, taskId, `@${joan.email}`);
    await service.drain();
    expect(mentionsTo(joan).at(-1)!.subject).toBe('J R. https evil example x mentioned you in a comment');
  });
});
