import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { openServer, type Database } from '../../db/open.ts';
import type { Actor } from '../support/actor.ts';
import { endAllProcesses, runToEnd } from '../support/process.ts';
import { startService, type Service } from '../support/service.ts';
import { withDatabase } from '../support/template.ts';
import { startWork } from '../support/work.ts';

/* A node serves while a node of a newer version migrates the database, which has further migrations. */

const template = inject('template');

const tables = [
  'accounts',
  'sessions',
  'employees',
  'projects',
  'tasks',
  'comments',
  'task_logs',
  'timers',
  'jobs',
  'events',
];
const expansion = {
  up: async (db: Parameters<(typeof migrations)[string]['up']>[0]) => {
    for (const table of tables) {
      await sql`alter table ${sql.table(table)} add column label text, add column is_new boolean not null default true`.execute(
        db,
      );
      await sql`create index ${sql.ref(`${table}_by_label`)} on ${sql.table(table)} (label)`.execute(db);
    }
  },
};

describe.runIf(template.kind === 'server')('a node of the version before', () => {
  let service: Service;
  let admin: Actor;
  let url: string;
  let other: Database;
  let folder: string;
  beforeAll(async () => {
    service = await startService();
    admin = await service.registerCompany();
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(service.database.db);
    url = withDatabase(template.kind === 'server' ? template.url : '', rows[0]!.name);
    other = openServer(url, { connectionsMax: 1, readConnections: 0 });
    folder = await mkdtemp(join(tmpdir(), 'wms-newer-'));
  });
  afterAll(async () => {
    await endAllProcesses();
    await other.close();
    await rm(folder, { recursive: true });
  });

  test('answers every write while the newer one migrates, and stays ready', async () => {
    const { taskId } = await startWork(admin);
    const answers: string[] = [];
    let hasMigrated = false;
    let roundsAfter = 0;
    async function round(): Promise<void> {
      const say = async (operation: string, answer: Promise<{ status: number }>) =>
        void answers.push(`${operation} ${(await answer).status}`);
      await say('comment', admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: 'Turn' }));
      await say('project', admin.post('/api/projects/', { name: 'Engine' }));
      await say('task', admin.patch(`/api/tasks/${taskId}/`, { title: 'Turn it' }));
      await say('timer', admin.post('/api/tasklogs/timer/start/', { taskId }));
      await say('timer', admin.post('/api/tasklogs/timer/stop/', {}));
      await say('comments', admin.get(`/api/tasks/chat/${taskId}/`));
    }
    await round();
    const writing = (async () => {
      while (roundsAfter < 2) {
        if (hasMigrated) roundsAfter += 1;
        await round();
      }
    })();
    const taken = await migrate(other.owner.db, { ...migrations, '9997-labels': expansion });
    hasMigrated = true;
    await writing;
    await service.drain();
    expect(taken).toEqual(['9997-labels']);
    expect([...new Set(answers)].toSorted()).toEqual([
      'comment 200',
      'comments 200',
      'project 200',
      'task 200',
      'timer 200',
    ]);
    expect(await service.anonymous.get('/readyz')).toMatchObject({ status: 200 });
  });

  test('says that the database is newer where it is started again, and exits', async () => {
    const { code, stderr } = await runToEnd({ DATA_DIR: folder, DATABASE_URL: url });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^The database was migrated by a newer version \(it has 9997-labels\), and this version knows up to/,
      ),
    });
  });
});
