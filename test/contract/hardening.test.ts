import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { password, startService } from '../support/service.ts';

/* What docs/security.md says and no other test shows. */

const service = await startService({ hashesSlowly: true });
const behindProxy = await startService({ settings: { trustProxy: ['127.0.0.1'] } });
const { anonymous, mailbox } = service;

/** How many sign-ins with a wrong password are refused for their number, each sent as if from another network. */
async function closedTo({ anonymous: caller }: typeof service): Promise<number> {
  let closed = 0;
  for (let network = 1; network <= 12; network += 1) {
    const headers = { 'x-forwarded-for': `192.0.2.${network}` };
    const { status } = await caller.post('/login/', { email: 'nobody@example.com', password }, { headers });
    if (status === 429) closed += 1;
  }
  return closed;
}

test('a network is what the connection says, and what a proxy says only where that is trusted', async () => {
  expect([await closedTo(service), await closedTo(behindProxy)]).toEqual([2, 0]);
});

test('every answer may be framed by nobody and changes no base, whatever it is', async () => {
  for (const path of [
    '/healthz',
    '/nope/',
    '/api/sessions/',
    '/docs',
    '/docs/assets/page.css',
    '/openapi.json',
    '/trpc/x',
  ]) {
    const policy = (await anonymous.get(path)).headers.get('content-security-policy')!.split(';');
    expect({ path, policy }).toEqual({
      path,
      policy: expect.arrayContaining(["frame-ancestors 'none'", "base-uri 'none'"]),
    });
  }
});

test('TRACE is no method of any path', async () => {
  for (const path of ['/login/', '/healthz', '/trpc/auth.login']) {
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const sent = request({ hostname, port, path, method: 'TRACE' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject).end();
    });
    expect({ path, status }).toEqual({ path, status: 405 });
  }
});

test('a log line says when, to the millisecond', async () => {
  await anonymous.get('/healthz');
  const { time } = JSON.parse(service.log().trim().split('\n').at(-1)!) as { time: number | string };
  expect(Math.abs(new Date(time).getTime() - Date.now())).toBeLessThan(60_000);
});

describe('a password', () => {
  const long = `  Correct Horse ${'é🦉'.repeat(40)} `;

  async function setPassword(email: string, new_password: string): Promise<void> {
    await anonymous.post('/reset/link/', { email });
    await service.drain();
    const [, token] = /reset-password\?token=([\w-]+)/.exec(mailbox.to(email).at(-1)!.text)!;
    const { status } = await anonymous.post('/reset/verify/', { token, new_password, confirm_password: new_password });
    expect(status).toBe(200);
  }

  test('of any characters and over 64 of them is taken, and compared as it was sent', async () => {
    const { email } = await service.registerCompany();
    await setPassword(email, long);
    expect((await anonymous.post('/login/', { email, password: long })).status).toBe(200);
    for (const other of [long.trim(), long.slice(0, 72), long.toLowerCase(), `${long} `])
      expect(errorOf(await anonymous.post('/login/', { email, password: other }))).toMatchObject({
        code: 'INVALID_CREDENTIALS',
      });
  });

  test('is stored as argon2id, with 19 MiB and two passes', async () => {
    const { email } = await service.registerCompany();
    await setPassword(email, 'seven green bottles');
    const { password_hash: hash } = await service.database.db
      .selectFrom('accounts')
      .where('email', '=', email)
      .select('password_hash')
      .executeTakeFirstOrThrow();
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
  });
});
