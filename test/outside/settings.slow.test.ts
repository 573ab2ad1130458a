import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endAllProcesses, makeHome, runToEnd, startProcess, type Home } from '../support/process.ts';
import { createCaller, got, headersOf, said } from './caller.ts';
import { startOutside } from './service.ts';

/*
 * Contract 8: settings, each of which needs a process of its own.
 *
 * Elsewhere: REDIS_URL (test/faults/redis.test.ts), SENDGRID_API_KEY (test/mail/sendgrid-mailer.test.ts), AUTH_KEYS and
 * production (test/faults/settings.slow.test.ts, test/contract/operations.slow.test.ts), GOOGLE_* and APPLE_* (claims/sign-in.ts sets
 * them all), APP_URL (every link of a mail there).
 */

const service = await startOutside({
  RATE_LIMIT_PER_MINUTE: '30',
  AUTH_REQUIRE_TOKEN_PAIR: 'false',
  PUBLIC_URL: 'https://api.example.test',
  APP_URL: 'https://frontend.example.test',
  CORS_ORIGINS: 'https://app.example.test,https://other.example.test',
  LOG_LEVEL: 'error',
});
const { anonymous, mails } = service;
const admin = await service.register();

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

describe('contract 8, a bad setting stops the start with a sentence that names it', async () => {
  const bad: Record<string, string> = {
    PORT: 'many',
    DATABASE_URL: 'mysql://127.0.0.1/x',
    PUBLIC_URL: 'nonsense',
    APP_URL: 'ftp://example.com',
    MAIL_FROM: 'nobody',
    GOOGLE_CLIENT_IDS: 'a b',
    GOOGLE_JWKS_URL: 'x',
    APPLE_CLIENT_IDS: '!',
    APPLE_JWKS_URL: 'x',
    REDIS_URL: 'http://127.0.0.1',
    CORS_ORIGINS: 'example.com',
    TRUST_PROXY: 'true',
    LOG_LEVEL: 'loud',
    RATE_LIMIT_PER_MINUTE: '0',
    AUTH_REQUIRE_TOKEN_PAIR: 'maybe',
    SEED_DEMO: 'perhaps',
  };
  const { code, stderr, stdout } = await runToEnd(bad);

  test.each(Object.keys(bad))('%s', (name) => {
    expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`[ ;]${name} must `))]);
  });

  test('and says it in one line, without a stack', () => {
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr + stdout).not.toContain('    at ');
  });

  test('AUTH_KEYS', async () => {
    const alone = await runToEnd({ ...home.environment, AUTH_KEYS: 'nonsense' });
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringMatching(/^.*AUTH_KEYS.*\n$/)]);
  });
});

describe('contract 8, settings that are used', () => {
  test('HOST is 127.0.0.1 by default', () => {
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test('DATA_DIR gets the mail file and the keys, and nobody else may read them', () => {
    for (const name of ['mail.jsonl', 'auth-keys.json']) expect(existsSync(join(service.folder, name))).toBe(true);
    expect(statSync(join(service.folder, 'auth-keys.json')).mode & 0o077).toBe(0);
    expect(statSync(service.folder).mode & 0o077).toBe(0);
  });

  test('AUTH_REQUIRE_TOKEN_PAIR=false: the access token alone is enough', async () => {
    const { authorization } = headersOf(admin.pair);
    expect(said(await anonymous.get(`/employee/me/${admin._id}/`, { authorization: authorization! }))).toBe('200');
    expect(
      said(await anonymous.get(`/employee/me/${admin._id}/`, { 'x-refresh-token': admin.pair.refresh_token })),
    ).toMatch(/^401 /);
  });

  test('PUBLIC_URL is where links to pictures lead', async () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { profilePicture } = got(
      await admin.patch(`/employee/update-picture/${admin._id}/`, { profilePicture: pixel }),
    );
    expect(profilePicture).toMatch(/^https:\/\/api\.example\.test\//);
  });

  test('APP_URL is where links in mails lead', async () => {
    const ask = () => anonymous.post('/reset/link/', { email: admin.email });
    expect((await mails.causedBy(ask, admin.email, 'password-reset')).text).toContain(
      'https://frontend.example.test/reset-password?token=',
    );
  });

  test('CORS_ORIGINS may call, and others may not', async () => {
    const preflight = async (origin: string) => {
      const { headers } = await anonymous.send('OPTIONS', '/login/', undefined, {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,x-refresh-token',
      });
      return headers.get('access-control-allow-origin');
    };
    for (const origin of ['https://app.example.test', 'https://other.example.test'])
      expect(await preflight(origin)).toBe(origin);
    for (const origin of ['https://evil.example', 'null']) expect(await preflight(origin)).toBeNull();
    const refused = await anonymous.get('/nowhere/', { origin: 'https://app.example.test' });
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example.test');
  });

  test('LOG_LEVEL=error says nothing of requests that went well', () => {
    expect(service.process.stdout()).not.toContain('"msg":"answered"');
  });
});

describe('contract 1, rate limits', () => {
  const path = `/task-statistics/${admin.companyId}`;

  test('every answer says where one stands, in RateLimit-*', async () => {
    const { headers } = await admin.get(`/company/${admin.companyId}/details/`);
    expect(headers.get('ratelimit-limit')).toBe('30');
    expect(Number(headers.get('ratelimit-remaining'))).toBe(29);
    expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit-policy')).toBe('30;w=60');
  });

  test('are counted by operation and not by spelling of its URL, and end in 429 with Retry-After', async () => {
    const spellings = [`${path}/`, path, `${path}/?x=1`, `${path.replace('task', '%74ask')}/`];
    for (let nth = 0; nth < 30; nth += 1) expect(said(await admin.get(spellings[nth % 3]!))).toBe('200');
    for (const spelling of spellings) {
      const refused = await admin.get(spelling);
      expect([spelling, said(refused)]).toEqual([spelling, '429 RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const batch = await admin.get(
      `/trpc/statistics.company?input=${encodeURIComponent(JSON.stringify({ company_id: admin.companyId }))}`,
    );
    expect([batch.status, batch.body.error.data.code]).toEqual([429, 'RATE_LIMITED']);
  });

  test('of one operation leave others alone, and those of one session others', async () => {
    expect(said(await admin.get(`/api/performance/${admin.companyId}/`))).toBe('200');
    const other = await service.register();
    expect(said(await other.get(`/task-statistics/${other.companyId}/`))).toBe('200');
  });

  test('of wrong credentials count against their network', async () => {
    const answers: string[] = [];
    for (let nth = 0; nth < 7; nth += 1)
      answers.push(
        said(await anonymous.get(`/employee/list/${admin.companyId}/`, { authorization: 'Bearer wms_wrong' })),
      );
    expect(answers.at(0)).toBe('401 INVALID_TOKEN');
    expect(answers.at(-1)).toBe('429 RATE_LIMITED');
    expect(said(await admin.get(`/employee/list/${admin.companyId}/`))).toBe('200');
  });
});

describe('contract 8, a start in a folder', () => {
  test('makes and keeps AUTH_KEYS in DATA_DIR, allows 600 requests a minute, and SEED_DEMO makes a company', async () => {
    const { folder } = home;
    chmodSync(folder, 0o755);
    const started = await startProcess({ ...home.environment, SEED_DEMO: 'true' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const keys = readFileSync(join(folder, 'auth-keys.json'), 'utf8');
    expect(keys).toContain('"keys"');
    const signIn = JSON.parse(readFileSync(join(folder, 'demo-sign-in.json'), 'utf8')) as object;
    const demo = createCaller(started.url);
    const login = await demo.post('/login/', signIn);
    expect([said(login), login.headers.get('ratelimit-limit')]).toEqual(['200', '600']);
    expect((await demo.get('/demo/')).headers.get('content-type')).toContain('text/html');
  });
});
