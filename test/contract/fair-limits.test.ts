import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLimits } from '../../server/platform/rate-limits.ts';
import { errorOf } from '../support/actor.ts';
import { password, startService } from '../support/service.ts';

const settings = { trustProxy: ['127.0.0.1'] };
const service = await startService({ settings });
const { anonymous } = service;
/** As a proxy that is trusted tells it. */
const from = (network: string) => ({ headers: { 'x-forwarded-for': network } });
const other = (code: string) => (code === '000000' ? '000001' : '000000');

describe('20 wrong codes of somebody else', () => {
  async function requestCode(email: string, network: string): Promise<string> {
    expect((await anonymous.post('/verify-email/', { email }, from(network))).status).toBe(200);
    await service.drain();
    return service.mailbox.lastCode(email);
  }
  async function guessedAt(): Promise<string> {
    const { email } = await service.addEmployee(await service.registerCompany());
    for (let round = 0; round < 4; round += 1) {
      const otp = await requestCode(email, `198.51.100.${round}`);
      for (let attempt = 0; attempt < 5; attempt += 1)
        await anonymous.post('/otp-login/', { email, otp: other(otp) }, from(`198.51.100.${round}`));
    }
    return email;
  }

  test('leave the owner their next code, which others can neither try nor kill', async () => {
    const email = await guessedAt();
    const otp = await requestCode(email, '203.0.113.7');
    for (let attempt = 0; attempt < 10; attempt += 1)
      for (const guess of [other(otp), otp])
        expect(errorOf(await anonymous.post('/otp-login/', { email, otp: guess }, from('198.51.100.9')))).toEqual({
          status: 429,
          code: 'RATE_LIMITED',
        });
    expect((await anonymous.post('/otp-login/', { email, otp }, from('203.0.113.7'))).status).toBe(200);
  });

  test('leave the person who requested a code one attempt', async () => {
    const email = await guessedAt();
    const otp = await requestCode(email, '203.0.113.8');
    const attempts = await Promise.all(
      Array.from({ length: 20 }, () => anonymous.post('/otp-login/', { email, otp: other(otp) }, from('203.0.113.8'))),
    );
    expect(attempts.filter(({ status }) => status === 401)).toHaveLength(1);
    expect(attempts.filter(({ status }) => status === 429)).toHaveLength(19);
    expect((await anonymous.post('/otp-login/', { email, otp }, from('203.0.113.8'))).status).toBe(429);
  });
});

test('a flood of sign-ins from 20 networks refuses none of 20 honest ones', async () => {
  const admin = await service.registerCompany();
  const honest = [await service.addEmployee(admin)];
  while (honest.length < 5) honest.push(await service.addEmployee(admin));
  const flood = new AbortController();
  onTestFinished(() => flood.abort());
  const attackers = Array.from({ length: 20 * 3 }, async (_, index) => {
    const network = `198.51.100.${100 + (index % 20)}`;
    for (let tries = 0; !flood.signal.aborted; tries += 1) {
      const email = `nobody${index}.${tries}@example.com`;
      await anonymous.post('/login/', { email, password: 'wrong and long' }, from(network));
    }
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      anonymous.post('/login/', { email: honest[index % 5]!.email, password }, from(`203.0.113.${index}`)),
    ),
  );
  flood.abort();
  await Promise.all(attackers);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
}, 120_000);

describe('wrong or missing credentials', () => {
  test('are refused with 429 beyond the limit of their network, and good ones are served', async () => {
    const limited = await startService({ settings, requestsPerMinute: 600 });
    const admin = await limited.registerCompany();
    const wrong = (index: number) => ({ ...from('198.51.100.1').headers, authorization: `Bearer wms_wrong${index}` });
    const answers = [];
    for (let index = 0; index < 200; index += 1)
      answers.push(await limited.anonymous.get('/api/projects/1/', { headers: wrong(index) }));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(100);
    const last = answers.at(-1)!;
    expect(errorOf(last)).toEqual({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    // Before a body is read as well.
    const write = await limited.anonymous.post('/api/projects/', {}, { headers: wrong(1) });
    expect(write.status).toBe(401);
    const path = `/api/projects/company/${admin.companyId}/`;
    expect((await admin.get(path, from('198.51.100.1'))).status).toBe(200);
    expect((await limited.anonymous.get('/api/projects/1/', from('198.51.100.2'))).status).toBe(401);
  });

  test('close a socket on which nobody says who they are', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/trpc`);
    await once(socket, 'open');
    let answers = 0;
    socket.on('message', () => (answers += 1));
    const closed = once(socket, 'close');
    for (let id = 0; id < 5_000; id += 1)
      socket.send(JSON.stringify({ id, method: 'query', params: { path: 'sessions.list' } }));
    const [code] = (await closed) as [number];
    expect([4429, 1006]).toContain(code);
    expect(answers).toBeGreaterThanOrEqual(200);
    expect(answers).toBeLessThan(1_000);
  });
});

describe('budgets', () => {
  test('of an employee and of a company are shared by their sessions, and the tightest is told', async () => {
    const limits = createLimits({
      requestsPerMinute: 5,
      requestsPerMinuteOfEmployee: 8,
      requestsPerMinuteOfCompany: 10,
    });
    const narrow = await startService({ limits });
    const admin = await narrow.registerCompany();
    const path = `/employee/me/${admin.employeeId}/`;
    const statuses = async (actor: typeof admin, times: number) => {
      const told: unknown[] = [];
      for (let time = 0; time < times; time += 1) {
        const { status, headers } = await actor.get(path);
        told.push(`${status} ${headers.get('ratelimit-limit')} ${headers.get('ratelimit-remaining')}`);
      }
      return told;
    };
    expect(await statuses(admin, 6)).toEqual(['200 5 4', '200 5 3', '200 5 2', '200 5 1', '200 5 0', '429 5 0']);
    // What the session was refused cost the employee and the company nothing.
    const again = await narrow.signIn(admin.email);
    expect(await statuses(again, 4)).toEqual(['200 8 2', '200 8 1', '200 8 0', '429 8 0']);
    const colleague = await narrow.addEmployee(admin);
    expect(await statuses(colleague, 3)).toEqual(['200 10 1', '200 10 0', '429 10 0']);
    const foreign = await narrow.registerCompany();
    expect((await foreign.get(`/employee/me/${foreign.employeeId}/`)).status).toBe(200);
  });
});
