import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startProgram } from '../examples/run-script.ts';
import { runShell } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { openTour } from '../support/tours.ts';

/* The commands of docs/command.md, in an empty folder: all that is there is what the service serves. */

const tour = await openTour('command/page.slow.test.ts');
const page = 'client-sdk/docs/command.md';
const folder = await mkdtemp(join(tmpdir(), 'wms-page-'));
afterAll(() => rm(folder, { recursive: true }));

const service = await startService();
const admin = await service.registerCompany();
const { body: project } = await admin.post('/api/projects/', { name: 'Winter fair' });
const { body: task } = await admin.post('/api/tasks/', { projectId: project._id, title: 'Stand plan' });

const environment = {
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_prefix: join(folder, 'global'),
  npm_config_update_notifier: 'false',
  // Nothing but the service is asked.
  npm_config_registry: service.url,
};
const here = (text: string): string => text.replaceAll('http://127.0.0.1:3000', service.url);

test('three commands lead from nothing to a logged hour', { timeout: 60_000 }, async () => {
  const [login, look, log, ...more] = here(tour.take(page, 'A logged hour in three commands')).trim().split('\n');
  expect(more).toEqual([]);
  const signingIn = startProgram('bash', ['-c', `cd '${folder}' && exec ${login}`], environment);
  await signingIn.said('E-mail address: ', 'stderr');
  signingIn.type(`${admin.email}\n`);
  await signingIn.said('Code: ', 'stderr');
  await service.drain();
  signingIn.type(`${service.mailbox.lastCode(admin.email)}\n`);
  expect(await signingIn.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(admin.name) });

  expect(await runShell(folder, look!, environment)).toContain('Stand plan');
  expect(await runShell(folder, log!, environment)).toMatch(/^Logged 1 h on "Stand plan": /);
  const { body } = await admin.get(`/taskLogs/task/${task._id}/`);
  expect(body).toMatchObject({ totalSeconds: 3600, taskLogs: [{ userId: admin.employeeId }] });
});

test('what is shown for every day works', { timeout: 60_000 }, async () => {
  await runShell(folder, `npm install --global --silent ${service.url}/client.tgz`, environment);
  const installed = `PATH='${folder}/global/bin':$PATH`;
  const commands = tour.takeAll(page, 'Every day').join('\n');
  const said = await runShell(folder, `${installed}\n${commands}`, environment);
  expect(said).toMatch(/^Logged 2 h on "Stand plan": [\d-]+ 09:00 to 11:00\.\nThe timer runs on "Stand plan"/);
  expect(said).toContain('Usage: wms tasks create');
  expect(await readFile(join(folder, 'march.csv'), 'utf8')).toContain('Total');
  expect((await admin.get(`/api/tasks/${task._id}/`)).body).toMatchObject({ status: 'in_review', dueDate: null });
});

test('nothing is left of the page', () => {
  expect(tour.left()).toEqual([]);
});
