import { expect, test } from 'vitest';
import { importCsv, togglFile } from '../../support/csv-imports.ts';
import { startService } from '../../support/service.ts';

/* Time on many tasks of many projects, before their tables were analysed. */

const service = await startService();

test('time on many tasks that are there already is found at once', async () => {
  const admin = await service.registerCompany();
  const rows = Array.from({ length: 20_000 }, (_, index) => ({
    Project: `Project ${index % 499}`,
    Task: `Task ${index}`,
    'Start date': new Date(Date.UTC(2010, 0, 1 + (index % 5_000))).toISOString().slice(0, 10),
    'End date': '',
    'End time': '',
    Duration: '1:00',
  }));
  const csv = togglFile(admin.email, rows);
  expect((await importCsv(admin, csv)).body).toMatchObject({ created: { projects: 499, tasks: 20_000, logs: 20_000 } });

  // From another source, so that tasks are found by their titles and locked.
  const begun = performance.now();
  const { status, body } = await importCsv(admin, csv, { source: 'clockify' });
  expect(status).toBe(400);
  expect(body.issues[0]).toMatchObject({ path: ['csv', 2, 'Start time'], code: 'duplicate' });
  // It was 19 s as long as each task was compared with each project.
  expect(performance.now() - begun).toBeLessThan(5_000);
}, 120_000);
