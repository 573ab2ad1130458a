import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { BadSetting, readConfig } from '../../server/config.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'wms-settings-'));
afterAll(async () => {
  await endAllProcesses();
  rmSync(folder, { recursive: true });
});
const inFolder = { DATA_DIR: folder };

/** What the process says when it refuses to start: one line, and exit code 1. */
async function errorOfStart(environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trim();
}

test.runIf(inject('template').kind === 'server')(
  'a start is refused where the node needs more connections than the server gives',
  async () => {
    const home = await makeHome();
    onTestFinished(() => home.remove());
    const direct = {
      ...home.environment,
      DATABASE_URL: home.databaseUrl!,
      DATABASE_POOLER: '',
      DATABASE_DIRECT_URL: '',
    };
    expect(await errorOfStart({ ...direct, DATABASE_CONNECTIONS: '500' })).toMatch(
      /^This node may hold 753 connections, and the database server gives \d+: lower DATABASE_CONNECTIONS, or raise max_connections\.$/,
    );
  },
);

describe('a start is refused in one sentence', () => {
  test('where a setting is bad, by its name and without its value', async () => {
    expect(await errorOfStart({ ...inFolder, PORT: 'three thousand' })).toBe(
      'Bad setting: PORT must be a port number.',
    );
  });

  test('where there is a read replica and no server that it could be one of', async () => {
    expect(await errorOfStart({ ...inFolder, DATABASE_REPLICA_URL: 'postgres://127.0.0.1/none' })).toBe(
      'Bad setting: DATABASE_REPLICA_URL needs DATABASE_URL.',
    );
  });

  test('in production that is half-configured, naming all that is missing, and the settings that accept it', async () => {
    expect(await errorOfStart({ ...inFolder, NODE_ENV: 'production' })).toBe(
      'Bad setting: production needs AUTH_KEYS (make it with `npm run keys`), DATABASE_URL (or ACCEPT_EMBEDDED_DATABASE=true), ' +
        'PUBLIC_URL, APP_URL, SENDGRID_API_KEY (or ACCEPT_MAIL_FILE=true), MAIL_FROM (or ACCEPT_MAIL_FILE=true).',
    );
  });

  test('where the keys are none', async () => {
    expect(await errorOfStart({ ...inFolder, AUTH_KEYS: '{"keys":[]}' })).toMatch(
      /^Bad setting: AUTH_KEYS must be .*`npm run keys`\)\.$/,
    );
    const keys = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'a', d: 'secret', x: 'secret' }] });
    const refusal = await errorOfStart({ ...inFolder, AUTH_KEYS: keys });
    expect(refusal).toMatch(/^Bad setting: AUTH_KEYS holds a key that is no Ed25519 private key/);
    expect(refusal).not.toContain('secret');
  });

  test('where the keys that were kept are damaged', async () => {
    const damaged = mkdtempSync(join(folder, 'damaged-'));
    writeFileSync(join(damaged, 'auth-keys.json'), '{"keys":');
    expect(await errorOfStart({ DATA_DIR: damaged })).toBe(
      `The keys in ${join(damaged, 'auth-keys.json')} cannot be used: restore that file, or delete it and everybody signs in again.`,
    );
  });

  test('where the data folder is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await errorOfStart({ DATA_DIR: file })).toMatch(
      /^The data folder .* cannot be used .* set DATA_DIR to a folder/,
    );
  });

  test('where the database server is away, without its password', async () => {
    const refusal = await errorOfStart({ ...inFolder, DATABASE_URL: 'postgres://ada:secret@127.0.0.1:1/wms' });
    expect(refusal).toMatch(
      /^The database at 127\.0\.0\.1:1\/wms does not answer \(.*ECONNREFUSED.*\): check DATABASE_URL/,
    );
    expect(refusal).not.toContain('secret');
  });

  test.runIf(inject('template').kind === 'server')('where the port is in use', async () => {
    const home = await makeHome();
    onTestFinished(() => home.remove());
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await errorOfStart({ ...home.environment, PORT: String(port), LOG_LEVEL: 'silent' })).toBe(
      `127.0.0.1:${port} is in use: stop what listens there, or set PORT to another port.`,
    );
  });
});

describe('the settings', () => {
  test('have defaults, and empty and blank ones count as not set', () => {
    expect(readConfig({ PORT: ' ', DATABASE_URL: '', DATABASE_READ_CONNECTIONS: ' \n' })).toMatchObject({
      PORT: 3000,
      DATABASE_READ_CONNECTIONS: 2,
      HOST: '127.0.0.1',
      DATA_DIR: '.data',
    });
  });

  test.each([
    ['PORT', '65536'],
    ['HOST', 'http://127.0.0.1'],
    ['HOST', '127.0.0.1:3000'],
    ['OPS_HOST', '[::1]'],
    ['OPS_PORT', '-1'],
    ['OPS_PORT', 'metrics'],
    ['OPS_DOCS', 'yes'],
    ['NODE_ENV', 'prod'],
    ['NODE_ENV', 'Production'],
    ['DATABASE_URL', 'mysql://somewhere'],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'app.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/'],
    ['CORS_ORIGINS', 'https://app.example.com,https://other.example.com/path'],
    ['MAIL_FROM', 'nobody'],
    ['MAIL_FROM', 'Work <no-reply@example.com'],
    ['MAIL_FROM', 'a b@example.com'],
    ['GOOGLE_CLIENT_IDS', 'one two'],
    ['GOOGLE_CLIENT_IDS', '"quoted"'],
    ['APPLE_CLIENT_IDS', '<secret>'],
    ['ACCEPT_MAIL_FILE', 'yes'],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'https://ada:hidden@example.com'],
    ['PUBLIC_URL', 'https://example.com/?company=1'],
    ['PUBLIC_URL', 'https://example.com/#/'],
    ['AUDIT_RETENTION_DAYS', '99999999999'],
    ['SENDGRID_BASE_URL', 'api.eu.sendgrid.com'],
    ['REDIS_URL', 'http://somewhere'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['CONNECTIONS_PER_NETWORK', '0'],
    ['CONNECTIONS_PER_NETWORK', 'many'],
    ['AUTH_REQUIRE_TOKEN_PAIR', 'yes'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '::/0'],
    ['WEBHOOK_ALLOWED_NETWORKS', 'localhost'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/8,all'],
    ['SEED_DEMO', '1'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(BadSetting);
    expect(() => readConfig({ [name]: value })).toThrow(`Bad setting: ${name} `);
  });

  test.each([
    ['DATABASE_CONNECTIONS', '501', 'a whole number from 2 to 500'],
    ['DATABASE_READ_CONNECTIONS', '1.5', 'a whole number from 0 to 16'],
    ['DATABASE_REPLICA_LAG_MAX_MS', '500ms', 'a whole number from 0 to 60000'],
    ['AUDIT_RETENTION_DAYS', '29', 'a whole number from 30 to 36500'],
  ])('say which numbers they take: %s=%s', (name, value, expected) => {
    expect(() => readConfig({ [name]: value })).toThrow(`Bad setting: ${name} must be ${expected}.`);
  });

  const whole = {
    NODE_ENV: 'production',
    AUTH_KEYS: '{"keys":[]}',
    DATABASE_URL: 'postgres://ada:hidden@db.example.com/wms',
    PUBLIC_URL: 'https://api.example.com',
    APP_URL: 'https://app.example.com',
    SENDGRID_API_KEY: 'SG.hidden',
    MAIL_FROM: 'Work <no-reply@example.com>',
  };
  const refusalWithout = (...names: string[]): string => {
    try {
      readConfig({ ...whole, ...Object.fromEntries(names.map((name) => [name, ''])) });
    } catch (error) {
      if (error instanceof BadSetting) return error.message;
      throw error;
    }
    return '';
  };

  test.each(['AUTH_KEYS', 'DATABASE_URL', 'PUBLIC_URL', 'APP_URL', 'SENDGRID_API_KEY', 'MAIL_FROM'])(
    'in production lack no %s',
    (name) => {
      expect(refusalWithout()).toBe('');
      expect(refusalWithout(name)).toMatch(new RegExp(`^Bad setting: production needs ${name}(?: \\([^)]*\\))?\\.$`));
      expect(refusalWithout(name)).not.toContain('hidden');
    },
  );

  test('accept in production a mail file and the embedded database where they say so', () => {
    const { DATABASE_URL: _url, SENDGRID_API_KEY: _key, MAIL_FROM: _from, ...rest } = whole;
    const accepted = { ...rest, ACCEPT_MAIL_FILE: 'true', ACCEPT_EMBEDDED_DATABASE: 'true' };
    expect(readConfig(accepted)).toMatchObject({ NODE_ENV: 'production', MAIL_FROM: 'no-reply@localhost' });
    expect(() => readConfig({ ...accepted, ACCEPT_MAIL_FILE: 'false' })).toThrow(
      /production needs SENDGRID_API_KEY .*MAIL_FROM/,
    );
  });

  test('want a private port where the reference is to be on it', () => {
    expect(() => readConfig({ OPS_DOCS: 'true' })).toThrow('Bad setting: OPS_DOCS needs OPS_PORT.');
    expect(readConfig({ OPS_DOCS: 'true', OPS_PORT: '9100' })).toMatchObject({ OPS_PORT: 9100, OPS_HOST: '127.0.0.1' });
  });

  test('say what a database URL looks like, and nothing of what was given', () => {
    const given = () => readConfig({ DATABASE_URL: 'mysql://ada:hidden@db.example.com/wms' });
    expect(given).toThrow('DATABASE_URL must be a URL of the form postgres://user:password@host:5432/database.');
  });

  test('take the networks of proxies', () => {
    expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).TRUST_PROXY).toEqual([
      '10.0.0.0/8',
      '192.0.2.7',
      'fd00::/8',
    ]);
  });
});

test('a private port is listened on, and said where', async () => {
  const home = await makeHome();
  onTestFinished(() => home.remove());
  const service = await startProcess({ ...home.environment, OPS_PORT: '0', OPS_DOCS: 'true', SEED_DEMO: 'false' });
  const metricsUrl = / Metrics +(\S+)/.exec(service.stdout())![1]!;
  expect((await fetch(metricsUrl)).status).toBe(200);
  expect(service.stdout()).toContain(` ${new URL('/docs', metricsUrl).href}\n`);
  for (const path of ['/metrics', '/docs']) expect((await fetch(`${service.url}${path}`)).status).toBe(404);
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);
}, 60_000);

test('`npm run keys` prints a key set that works', async () => {
  const { code, stdout } = await runToEnd({}, ['npm', 'run', '--silent', 'keys']);
  expect(code).toBe(0);
  const tokens = await createTokens(stdout.trim());
  const token = await tokens.issueAccess({ sessionId: 1, now: new Date() });
  expect(await tokens.verifyAccess(token)).toMatchObject({ sessionId: 1 });
});

const systemNode = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path));
const isOld =
  systemNode !== undefined && /^v(?:1\d|20|21)\./.test(execFileSync(systemNode, ['--version'], { encoding: 'utf8' }));

test.runIf(isOld)('an older Node says in one sentence what is needed (skipped where none is installed)', async () => {
  const command = [systemNode!, '-r', './server/require-node.cjs', 'server/main.ts'];
  const { code, stdout, stderr } = await runToEnd(inFolder, command);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^This service needs Node 22\.18 or later, and this is \S+: (?:run `npm ci && npm start`|install it).*\.\n$/,
  );
});
