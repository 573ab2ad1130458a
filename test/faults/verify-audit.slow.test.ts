import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { openEmbedded } from '../../db/open-embedded.ts';
import { openServer } from '../../db/open.ts';
import { sealCompany } from '../../server/features/audit/seals.ts';
import { readUnsealed } from '../../server/features/audit/verify.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { createCaller } from '../support/actor.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

const open = () =>
  home.databaseUrl === undefined ? openEmbedded({ folder: home.folder }) : openServer(home.databaseUrl);
const verify = () => runToEnd(home.environment, [process.execPath, 'server/commands/verify-audit.ts']);

test('verify-audit says what it checked, exits with 1 where a row was changed, and names it', async () => {
  const service = await startProcess({ ...home.environment, SEED_DEMO: 'true' });
  const demo = JSON.parse(await readFile(join(home.folder, 'demo-sign-in.json'), 'utf8')) as object;
  expect((await createCaller(service.url).post('/login/', demo)).status).toBe(200);
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);

  const database = await open();
  const tokens = await createTokens(await readFile(join(home.folder, 'auth-keys.json'), 'utf8'));
  // Other databases of the server have transactions too.
  const isSealed = async () => (await readUnsealed({ db: database.db, companyId: 1 })).rows === 0;
  await waitUntil(async () => (await sealCompany({ database, tokens }, 1)) === 0 && isSealed(), {
    timeout: 120_000,
  });
  await database.close();
  const intact = await verify();
  expect(intact).toMatchObject({ code: 0, stderr: '' });
  expect(intact.stdout).toMatch(
    /^Company 1: \d+ rows under \d seals \(the last is \d, [\w-]{43}\), 0 rows not sealed yet$/m,
  );
  expect(intact.stdout).toMatch(/^1 companies were checked, all logs are intact\.$/m);

  const again = await open();
  await sql`alter table audit_log disable trigger user`.execute(again.db);
  const { rows } = await sql<{ id: number }>`
    update audit_log set network = '192.0.2.1' where company_id = 1 and operation = 'auth.login' returning audit_id as id`.execute(
    again.db,
  );
  await sql`alter table audit_log enable trigger user`.execute(again.db);
  await again.close();
  const changed = await verify();
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain(`  row changed: row ${rows[0]!.id}, seal `);
  expect(changed.stdout).toMatch(/^1 companies were checked, 1 logs are not intact\.$/m);
});
