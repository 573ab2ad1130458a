import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { notify, type NewNotification } from '../../../server/features/notifications/notify.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const { database, mailbox, clock } = service;
const admin = await service.registerCompany({ name: 'Engines' });
const { projectId } = await startWork(admin);
let causes = 0;

const mailsTo = ({ email }: Actor) => mailbox.to(email).filter((mail) => mail.template === 'notification');
const wish = (person: Actor, wishes: Record<string, { inApp: boolean; email: boolean }>) =>
  person.put(`/api/notification-preferences/${person.employeeId}/`, wishes);
const assign = (person: Actor, title: string) =>
  admin.post('/api/tasks/', { projectId, title, owner_id: person.employeeId });
const both = { inApp: true, email: true };

/** Notifies people at once, as a job handler does. */
async function tell(people: Actor[], more: Partial<NewNotification>[]): Promise<void> {
  const notifications = people.flatMap(({ employeeId: recipientId }) =>
    more.map((one): NewNotification => ({
      recipientId,
      cause: `fact ${(causes += 1)}`,
      appType: 'task',
      category: 'task',
      priority: 'primary',
      title: `Title ${causes}`,
      message: 'Message',
      link: null,
      actorId: null,
      ...one,
    })),
  );
  await database.db.transaction().execute((db) => notify(db, people[0]!.companyId, notifications, clock.now()));
  await service.drain();
}

describe('a person', () => {
  test('is sent no mail of notifications but of mentions, as long as they say nothing else', async () => {
    const person = await service.addEmployee(admin);
    const { body } = await person.get(`/api/notification-preferences/${person.employeeId}/`);
    expect(Object.entries(body).filter(([, ways]) => (ways as typeof both).email)).toEqual([['message', both]]);
    await assign(person, 'Quiet');
    const taskId = await addTask(person, projectId);
    await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: `Yes, @${person.email}` });
    await service.drain();
    expect(mailsTo(person)).toEqual([]);
    expect(mailbox.to(person.email).filter((mail) => mail.template === 'mention')).toHaveLength(1);
  });

  test('is mailed of the categories that they want mail of, and is told how to turn it off', async () => {
    const person = await service.addEmployee(admin);
    const neighbour = await service.addEmployee(admin);
    await wish(person, { task: both });
    const { body: task } = await assign(person, 'Cut <gears>');
    await admin.post('/api/projects/', { name: 'Loom', owner_id: person.employeeId });
    await assign(neighbour, 'Another');
    await service.drain();
    expect(mailsTo(person)).toHaveLength(1);
    expect(mailsTo(neighbour)).toEqual([]);
    const [mail] = mailsTo(person);
    expect(mail!.subject).toBe(`${admin.name} assigned you Cut <gears>`);
    expect(mail!.text).toContain('The task is yours now.');
    expect(mail!.text).toContain(`https://app.example.test/tasks/${task._id}`);
    expect(mail!.text).toContain(
      'Change your notification preferences:\nhttps://app.example.test/notification-preferences',
    );
    expect(mail!.html).toContain('href="https://app.example.test/notification-preferences"');
    expect((await person.get(`/notifications/recipient/${person.employeeId}/?category=task`)).body.total).toBe(1);
  });

  test.each(['task', 'project', 'need_attention', 'notice'] as const)('is mailed of %s, once', async (category) => {
    const person = await service.addEmployee(admin);
    await wish(person, { [category]: both });
    const priority = category === 'notice' ? 'others' : 'primary';
    for (let run = 0; run < 2; run += 1)
      await tell([person], [{ category, priority, cause: `the same of ${category}` }]);
    expect(mailsTo(person)).toHaveLength(1);
  });

  test('is never mailed of what they merely follow, nor twice of a mention', async () => {
    const person = await service.addEmployee(admin);
    await wish(person, { message: both, task: both });
    const message = { category: 'message' } as const;
    await tell(
      [person],
      [
        { ...message, priority: 'updates' },
        { ...message, priority: 'activity' },
        { ...message, isMention: true },
        { priority: 'updates' },
      ],
    );
    expect(mailsTo(person)).toEqual([]);
  });

  test('may want mail alone', async () => {
    const person = await service.addEmployee(admin);
    await wish(person, { task: { inApp: false, email: true } });
    await assign(person, 'By mail');
    await service.drain();
    expect(mailsTo(person)).toHaveLength(1);
    expect((await person.get(`/notifications/recipient/${person.employeeId}/`)).body.total).toBe(0);
    for (let run = 0; run < 2; run += 1) await tell([person], [{ cause: 'the same' }]);
    expect(mailsTo(person)).toHaveLength(2);
  });

  test('who turned it off before it was sent is sent none', async () => {
    const person = await service.addEmployee(admin);
    await wish(person, { task: both });
    mailbox.failNext(1);
    await assign(person, 'Too late');
    await service.drain();
    await wish(person, { task: { inApp: true, email: false } });
    clock.advance({ minutes: 5 });
    await service.drain();
    expect(mailsTo(person)).toEqual([]);
  });

  test('who has left, or has not accepted the invitation, is sent none', async () => {
    const leaver = await service.addEmployee(admin);
    const fields = { first_name: 'In', last_name: 'Vited', email: 'invited@example.com', companyId: admin.companyId };
    const { body: invited } = await admin.post('/employee/add/', fields);
    for (const employeeId of [leaver.employeeId, invited._id])
      await sql`
        insert into notification_preferences values (${admin.companyId}, ${employeeId}, 'task', true, true, now())`.execute(
        database.db,
      );
    mailbox.failNext(2);
    await tell([leaver, { ...leaver, employeeId: invited._id, email: fields.email }], [{}]);
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    clock.advance({ minutes: 5 });
    await service.drain();
    expect([
      ...mailsTo(leaver),
      ...mailbox.to(fields.email).filter((mail) => mail.template === 'notification'),
    ]).toEqual([]);
  });
});

describe('many notifications', () => {
  test('that are told at once are one mail', async () => {
    const person = await service.addEmployee(admin);
    await wish(person, { task: both });
    await tell(
      [person],
      Array.from({ length: 23 }, (_, index) => ({ title: `Task ${index} is due tomorrow` })),
    );
    const [mail, ...others] = mailsTo(person);
    expect(others).toEqual([]);
    expect(mail!.subject).toBe('Task 0 is due tomorrow, and 22 more');
    expect(mail!.text).toContain('- Task 19 is due tomorrow\n');
    expect(mail!.text).not.toContain('Task 20');
    expect(mail!.text).toContain('There are 3 more in the app.');
    expect(mail!.text).toContain('Open the app:\nhttps://app.example.test\n');
  });

  test('are 20 mails an hour to one person, and hold up nobody else', async () => {
    const person = await service.addEmployee(admin);
    const neighbour = await service.addEmployee(admin);
    for (const one of [person, neighbour]) await wish(one, { task: both });
    for (let index = 0; index < 23; index += 1) await tell([person], [{}]);
    expect(mailsTo(person)).toHaveLength(20);
    await tell([person, neighbour], [{}]);
    expect([mailsTo(person).length, mailsTo(neighbour).length]).toEqual([20, 1]);
    clock.advance({ hours: 1 });
    await tell([person], [{}]);
    expect(mailsTo(person)).toHaveLength(21);
    // Those beyond the limit are in the app.
    const { body } = await (await service.signIn(person.email)).get(`/notifications/recipient/${person.employeeId}/`);
    expect(body.total).toBe(25);
  });

  test('of another company are mailed to its own people alone', async () => {
    const outsider = await service.registerCompany({ name: 'Elsewhere' });
    await wish(outsider, { task: both });
    await wish(await service.signIn(admin.email), { task: both });
    await tell([outsider], [{}]);
    expect(mailsTo(outsider)).toHaveLength(1);
    expect(mailsTo(outsider)[0]!.text).toContain('preferences for Elsewhere');
    expect(mailsTo(admin)).toEqual([]);
  });
});
