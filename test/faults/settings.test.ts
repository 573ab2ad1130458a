import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { BadSetting, readConfig } from '../../server/config.ts';
import { createTokens } from '../../server/kernel/tokens.ts';
import { makeHome, runToEnd } from '../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'wms-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const inFolder = { DATA_DIR: folder };

/** What the process says when it refuses to start: one line, and exit code 1. */
async function refusalOf(environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trim();
}

describe('a start is refused in one sentence', () => {
  test('where a setting is bad, by its name and without its value', async () => {
    expect(await refusalOf({ ...inFolder, PORT: 'three thousand' })).toBe('Bad setting: PORT must be a port number.');
  });

  test('in production without keys, which it says how to make', async () => {
    expect(await refusalOf({ ...inFolder, NODE_ENV: 'production' })).toBe(
      'Bad setting: AUTH_KEYS is required in production; make it with `npm run keys`.',
    );
  });

  test('where the keys are none', async () => {
    expect(await refusalOf({ ...inFolder, AUTH_KEYS: '{"keys":[]}' })).toMatch(
      /^Bad setting: AUTH_KEYS must be .*`npm run keys`\)\.$/,
    );
    const keys = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'a', d: 'secret', x: 'secret' }] });
    const refusal = await refusalOf({ ...inFolder, AUTH_KEYS: keys });
    expect(refusal).toMatch(/^Bad setting: AUTH_KEYS holds a key that is no Ed25519 private key/);
    expect(refusal).not.toContain('secret');
  });

  test('where the keys that were kept are damaged', async () => {
    const damaged = mkdtempSync(join(folder, 'damaged-'));
    writeFileSync(join(damaged, 'auth-keys.json'), '{"keys":');
    expect(await refusalOf({ DATA_DIR: damaged })).toBe(
      `The keys in ${join(damaged, 'auth-keys.json')} cannot be used: restore that file, or delete it and everybody signs in again.`,
    );
  });

  test('where the data folder is a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await refusalOf({ DATA_DIR: file })).toMatch(
      /^The data folder .* cannot be used .* set DATA_DIR to a folder/,
    );
  });

  test('where the database server is away, without its password', async () => {
    const refusal = await refusalOf({ ...inFolder, DATABASE_URL: 'postgres://ada:secret@127.0.0.1:1/wms' });
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
    expect(await refusalOf({ ...home.environment, PORT: String(port), LOG_LEVEL: 'silent' })).toBe(
      `127.0.0.1:${port} is in use: stop what listens there, or set PORT to another port.`,
    );
  });
});

describe('the settings', () => {
  test('have defaults, and empty ones count as not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({
      PORT: 3000,
      HOST: '127.0.0.1',
      DATA_DIR: '.data',
    });
  });

  test.each([
    ['PORT', '65536'],
    ['DATABASE_URL', 'mysql://somewhere'],
    ['PUBLIC_URL', 'example.com'],
    ['SENDGRID_BASE_URL', 'api.eu.sendgrid.com'],
    ['REDIS_URL', 'http://somewhere'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['AUTH_REQUIRE_TOKEN_PAIR', 'yes'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['SEED_DEMO', '1'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(BadSetting);
    expect(() => readConfig({ [name]: value })).toThrow(`Bad setting: ${name} `);
  });

  test('take the networks of proxies', () => {
    expect(readConfig({ TRUST_PROXY: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).TRUST_PROXY).toEqual([
      '10.0.0.0/8',
      '192.0.2.7',
      'fd00::/8',
    ]);
  });
});

test('`npm run keys` prints a key set that works', async () => {
  const { code, stdout } = await runToEnd({}, ['npm', 'run', '--silent', 'keys']);
  expect(code).toBe(0);
  const tokens = await createTokens(stdout.trim());
  const token = await tokens.issueAccess({ sessionId: 1, accountId: 2, now: new Date() });
  expect(await tokens.verifyAccess(token)).toMatchObject({ sessionId: 1, accountId: 2 });
});
