import { expect, onTestFinished, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { runScript, settingsOf, startScript } from './run-script.ts';

const service = await startService();
const admin = await service.registerCompany();
const grace = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'Hopper' });
// As names of before could be.
await service.database.db
  .updateTable('employees')
  .set({ first_name: 'Grace\u009B' })
  .where('company_id', '=', grace.companyId)
  .where('employee_id', '=', grace.employeeId)
  .execute();
const settings = await settingsOf(service, admin);
const script = 'follow-task.ts';

async function comment(actor: Actor, taskId: number, message: string, replyTo: number | null = null): Promise<number> {
  const sent = { taskId, sender: actor.employeeId, message, reply_to: replyTo };
  const { status, body } = await actor.post('/api/task-chats/', sent);
  expect(status).toBe(200);
  return body._id;
}

/** What was said, without the moments. */
const wordsOf = (stdout: string): string => stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME');

test('shows what was said as threads, and then what happens as it happens', async () => {
  const { taskId } = await startWork(admin);
  const first = await comment(grace, taskId, '<p>Shall we <strong>start</strong>?</p>');
  const reply = await comment(admin, taskId, 'Yes &amp; <a href="https://a.example">now</a>\u001B[2J', first);
  const second = await comment(grace, taskId, '<ul><li>oil</li><li>gears</li></ul>');
  await admin.post(`/api/like-chat/${admin.employeeId}/${first}/`);

  const run = startScript(script, [String(taskId)], settings);
  await run.said('- gears\n');
  expect(run.stderr()).toBe(`Task ${taskId}: Turn the crank\n`);
  expect(wordsOf(run.stdout())).toBe(
    `#${first} Grace\u{fffd} Hopper (TIME; liked by Ada Lovelace)\n    Shall we start?\n` +
      `  #${reply} Ada Lovelace (TIME)\n      Yes & now (https://a.example)\u{fffd}[2J\n` +
      `#${second} Grace\u{fffd} Hopper (TIME)\n    - oil\n    - gears\n`,
  );

  const listed = run.stdout().length;
  const third = await comment(grace, taskId, 'Who oils?', second);
  await admin.patch(`/api/edit-task-chats/${reply}/`, { message: 'Tomorrow' });
  await grace.post(`/api/like-chat/${grace.employeeId}/${reply}/`);
  await grace.post(`/api/dislike-chat/${grace.employeeId}/${reply}/`);
  await grace.delete(`/api/taskchat/${third}/`);
  await grace.delete(`/api/taskchat/${first}/`);
  await run.said(`#${first} of Grace\u{fffd} Hopper was deleted.\n`);
  expect(wordsOf(run.stdout().slice(listed))).toBe(
    `#${third} Grace\u{fffd} Hopper (TIME; in reply to #${second} of Grace\u{fffd} Hopper)\n    Who oils?\n` +
      `Ada Lovelace has changed #${reply}:\n    Tomorrow\n` +
      `Grace\u{fffd} Hopper likes #${reply} of Ada Lovelace.\n` +
      `Grace\u{fffd} Hopper does not like #${reply} of Ada Lovelace any more.\n` +
      `#${third} of Grace\u{fffd} Hopper was deleted.\n` +
      `#${first} of Grace\u{fffd} Hopper was deleted.\n`,
  );
  run.signal('SIGINT');
  expect((await run.ended).code).toBe(0);
});

test('goes on after a cut, says so, and misses and doubles nothing', async () => {
  const { taskId } = await startWork(admin);
  const proxy = await startProxy(service.url, 80);
  onTestFinished(() => proxy.close());
  const run = startScript(script, ['--json', String(taskId)], { ...settings, WMS_URL: proxy.url });
  const ids = [await comment(grace, taskId, 'before')];
  await run.said('"before"');
  const lost = 'The connection is lost. Trying again …\n';
  const back = 'Connected again.\n';
  for (const [index, round] of ['first', 'second'].entries()) {
    proxy.cut();
    await run.said((lost + back).repeat(index) + lost, 'stderr');
    ids.push(await comment(grace, taskId, `during the ${round} cut`), await comment(grace, taskId, 'and more'));
    proxy.restore();
    ids.push(await comment(grace, taskId, `after the ${round}`));
    await run.said(`"after the ${round}"`);
  }
  run.signal('SIGINT');
  const { code, stdout, stderr } = await run.ended;
  expect(code).toBe(0);
  expect(stderr).toBe(`Task ${taskId}: Turn the crank\n${(lost + back).repeat(2)}`);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; comment: { _id: number } });
  const written = lines.filter(({ type }) => type === 'written' || type === 'listed');
  expect(written.map(({ comment }) => comment._id)).toEqual(ids);
});

test('shows only what was said since then', async () => {
  const { taskId } = await startWork(admin);
  const old = await comment(grace, taskId, 'long ago');
  await service.database.db
    .updateTable('comments')
    .set({ created_at: new Date('2026-03-01T09:00:00Z') })
    .where('company_id', '=', admin.companyId)
    .where('comment_id', '=', old)
    .execute();
  await comment(grace, taskId, 'just now', old);
  const run = startScript(script, ['--since', '2h', String(taskId)], settings);
  await run.said('just now');
  expect(wordsOf(run.stdout())).toMatch(
    new RegExp(`^#\\d+ \\S+ Hopper \\(TIME; in reply to #${old} of \\S+ Hopper\\)\n    just now\n$`),
  );
  const none = startScript(script, ['--since', 'now', String(taskId)], settings);
  await none.said(`Task ${taskId}`, 'stderr');
  await comment(grace, taskId, 'from now on');
  await none.said('from now on');
  expect(wordsOf(none.stdout())).toMatch(/^#\d+ \S+ Hopper \(TIME\)\n {4}from now on\n$/);
  run.signal('SIGTERM');
  none.signal('SIGTERM');
  expect([(await run.ended).code, (await none.ended).code]).toEqual([0, 0]);
});

test('sends what is typed, as text and as a reply, and says what could not be sent', async () => {
  const { taskId } = await startWork(admin);
  const first = await comment(grace, taskId, 'Shall we?');
  const run = startScript(script, ['--write', String(taskId)], settings);
  await run.said('Shall we?');
  run.type(`#${first} Yes, <b>now</b>\n\n#999999 to nobody\nDone\n`);
  await run.said('    Done\n');
  expect(wordsOf(run.stdout())).toContain(
    `Ada Lovelace (TIME; in reply to #${first} of Grace\u{fffd} Hopper)\n    Yes, <b>now</b>\n`,
  );
  expect(run.stderr()).toContain('Not sent: reply_to ');
  run.signal('SIGINT');
  expect((await run.ended).code).toBe(0);
  const { comments } = (await admin.get(`/api/tasks/chat/${taskId}/`)).body;
  expect(comments).toMatchObject([{ replies: [{ message: 'Yes, &lt;b&gt;now&lt;/b&gt;' }] }, { message: 'Done' }]);
});

test('ends where the task is not there, or its access ends', async () => {
  const { taskId } = await startWork(admin);
  const elsewhere = await service.registerCompany({ name: 'Elsewhere' });
  const { taskId: foreign } = await startWork(elsewhere);
  const [absent, word, soon] = await Promise.all([
    runScript(script, [String(foreign)], settings),
    runScript(script, ['gears'], settings),
    runScript(script, ['--since', 'soon', String(taskId)], settings),
  ]);
  expect(absent).toEqual({ code: 1, stdout: '', stderr: `There is no task ${foreign} in your company.\n` });
  expect([word.code, soon.code]).toEqual([2, 2]);

  const listener = await service.addEmployee(admin);
  const run = startScript(script, [String(taskId)], await settingsOf(service, listener));
  await comment(grace, taskId, 'first');
  await run.said('first');
  await admin.patch(`/api/employees/${listener.employeeId}/`, { is_active: false });
  const { code, stderr } = await run.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('The key in WMS_API_KEY is refused');
});
