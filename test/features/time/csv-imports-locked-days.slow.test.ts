import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { importCsv, togglFile } from '../../support/csv-imports.ts';
import { setPolicy } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';

/* Years of somebody's time, all of it on locked days. */

const service = await startService();

test('many rows on many locked days are refused while others are served', async () => {
  const admin = await service.registerCompany();
  expect((await setPolicy(admin, { lockAfterDays: 0 })).status).toBe(200);
  const rows = Array.from({ length: 20_000 }, (_, index) => {
    const date = new Date(Date.UTC(2020, 0, 1 + (index % 2_000))).toISOString().slice(0, 10);
    const hour = String(Math.floor(index / 2_000)).padStart(2, '0');
    return { 'Start date': date, 'Start time': `${hour}:00`, 'End date': date, 'End time': `${hour}:30` };
  });
  const csv = togglFile(admin.email, rows);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const { body } = await importCsv(admin, csv, { dry_run: true });
  delay.disable();
  expect(body).toMatchObject({ errorCount: 20_000, skipped: { withErrors: 20_000 }, created: { logs: 0 } });
  expect(body.errors[0]).toMatchObject({ line: 2, message: 'is on 2020-01-01, which is locked', code: 'locked' });
  // It was 17 s as long as each log was compared with each of these days.
  expect(delay.max / 1e6).toBeLessThan(5_000);
}, 120_000);
