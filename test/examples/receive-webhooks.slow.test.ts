import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { findFreePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { runScript, settingsOf, startScript } from './run-script.ts';

const service = await startService({ settings: { webhookNetworks: ['127.0.0.1'] } });
const { drain } = service.app.webhookWorker;
const admin = await service.registerCompany();
const settings = await settingsOf(service, admin);
const script = 'receive-webhooks.ts';
const listWebhooks = async () => (await admin.get(`/api/webhooks/company/${admin.companyId}/`)).body.webhooks;

test('shows what happens, once however often it is sent, and leaves no webhook behind', async () => {
  const { taskId } = await startWork(admin);
  const port = await findFreePort();
  const run = startScript(script, ['--json', '--port', String(port)], settings);
  await run.said(`posts to http://127.0.0.1:${port}/: comment.created\n`, 'stderr');
  const sent = { taskId, sender: admin.employeeId, message: 'Ready?' };
  const { _id: commentId } = (await admin.post('/api/task-chats/', sent)).body;
  await drain();
  await run.said('comment.created');
  const [{ _id: webhookId }] = await listWebhooks();
  const { deliveries } = (await admin.get(`/api/webhooks/${webhookId}/deliveries/`)).body;
  await admin.post(`/api/webhook-deliveries/${deliveries[0]._id}/resend/`);
  await admin.post(`/api/webhooks/${webhookId}/test/`);
  await drain();
  await run.said('webhook.test');
  expect(
    run
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { id: deliveries[0].messageId, type: 'comment.created', data: { taskId, commentId } },
    { type: 'webhook.test' },
  ]);
  run.signal('SIGINT');
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(await listWebhooks()).toEqual([]);
});

test('refuses what is not signed with the secret of its webhook', async () => {
  const port = await findFreePort();
  const run = startScript(script, ['--port', String(port)], settings);
  await run.said('posts to', 'stderr');
  const body = JSON.stringify({ type: 'comment.created', timestamp: new Date().toISOString(), data: {} });
  const forger = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`);
  const at = new Date();
  const headers = {
    'webhook-id': 'msg_forged',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': forger.sign('msg_forged', at, body),
  };
  const post = async (init: RequestInit) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...init })).status;
  expect(await post({ body, headers })).toBe(401);
  expect(await post({ body })).toBe(401);
  expect(await post({ body: 'x'.repeat(200_000), headers })).toBe(400);
  run.signal('SIGINT');
  expect(await run.ended).toMatchObject({ code: 0, stdout: '' });
});

test('says so where the port is taken, the URL is refused or the caller is no admin', async () => {
  const { port: taken } = new URL(service.url);
  const employee = await settingsOf(service, await service.addEmployee(admin));
  const results = await Promise.all([
    runScript(script, ['--port', taken], settings),
    runScript(script, ['--public-url', 'https://10.0.0.1/'], settings),
    runScript(script, ['--events', 'nothing'], settings),
    runScript(script, [], employee),
    runScript(script, ['--port', 'x'], settings),
  ]);
  expect(results.map(({ code }) => code)).toEqual([1, 1, 1, 1, 2]);
  const said = [`port ${taken} already`, 'url must lead to public addresses only', 'events.0', 'admin', 'to 65535'];
  for (const [index, { stderr }] of results.entries()) expect(stderr).toContain(said[index]);
  expect(await listWebhooks()).toEqual([]);
});
