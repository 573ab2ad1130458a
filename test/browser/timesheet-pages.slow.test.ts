import { readFile } from 'node:fs/promises';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { createDownload } from '../support/download.ts';
import { logHours, setPolicy, submit } from '../support/periods.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { hasBrowser, launchBrowser, unlessSkipped } from './browser.ts';
import { artifact } from './stage.ts';

/*
 * The pages of a timesheet as pictures, for people to look at. Their words are checked in
 * test/features/time/timesheet-files.test.ts; here nothing is outside of the margins, and no page is blank or black.
 */

const service = await startService();
const download = createDownload(service);
const browser = hasBrowser ? await launchBrowser() : undefined;
afterAll(() => browser?.close());

const pdfjs = await readFile(fileURLToPath(import.meta.resolve('unpdf/pdfjs')));
const address = 'http://pages.test/';

type Picture = { png: Buffer; outside: number; ink: number };

/** Draws each page; `outside` is the number of dark pixels on its margins, `ink` the share of those within. */
async function draw(pdf: Buffer): Promise<Picture[]> {
  const page = await browser!.newPage();
  await page.route(`${address}**`, (route) =>
    route.request().url().endsWith('.mjs')
      ? route.fulfill({ body: pdfjs, contentType: 'text/javascript' })
      : route.fulfill({ body: '<!doctype html><title>Pages</title>', contentType: 'text/html' }),
  );
  await page.goto(address);
  const drawn = (await page.evaluate(`(async () => {
    const { getDocument } = await import('/pdfjs.mjs');
    const data = Uint8Array.from(atob(${JSON.stringify(pdf.toString('base64'))}), (one) => one.codePointAt(0));
    const file = await getDocument({ data }).promise;
    const pictures = [];
    for (let number = 1; number <= file.numPages; number += 1) {
      const sheet = await file.getPage(number);
      const viewport = sheet.getViewport({ scale: 1.5 });
      const { width, height } = viewport;
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const canvasContext = canvas.getContext('2d');
      await sheet.render({ canvas, canvasContext, viewport }).promise;
      const { data } = canvasContext.getImageData(0, 0, canvas.width, canvas.height);
      const margin = 48 * 1.5;
      let outside = 0;
      let within = 0;
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] > 200) continue;
        const [x, y] = [(at / 4) % canvas.width, Math.floor(at / 4 / canvas.width)];
        // The number of the page stands lower.
        const isOutside = x < margin || x > width - margin || y < margin || y > height - margin / 1.5;
        if (isOutside) outside += 1;
        else within += 1;
      }
      const base64 = canvas.toDataURL('image/png').split(',')[1];
      pictures.push({ base64, outside, ink: within / (canvas.width * canvas.height) });
    }
    return pictures;
  })()`)) as { base64: string; outside: number; ink: number }[];
  await page.close();
  return drawn.map(({ base64, ...rest }) => ({ ...rest, png: Buffer.from(base64, 'base64') }));
}

describe.runIf(hasBrowser)(`the pages of a timesheet${unlessSkipped}`, { timeout: 120_000 }, async () => {
  const admin = await service.registerCompany({ firstName: 'Ada', name: 'Größe & Partner' });
  const leader = await service.addEmployee(admin, { first_name: 'Łucja', last_name: 'Żółć', isTeamLeader: true });
  const worker = await service.addEmployee(admin, { first_name: 'Ελένη', last_name: 'Παπαδοπούλου' });
  await setPolicy(admin, { requireApproval: true });
  for (const [currency, minorUnits] of [
    ['EUR', 9_550],
    ['JPY', 12_000],
  ] as const) {
    const { projectId } = await startWork(admin, { name: currency === 'EUR' ? 'Difference Engine' : 'Ткацкий станок' });
    const rate = { validFrom: '2020-01-01', hourlyRate: { minorUnits, currency } };
    await admin.put(`/api/rates/${admin.companyId}/`, { project_id: projectId, ...rate });
    for (const [index, title] of [
      'Cut the gears',
      'Write down how the carry is propagated from one column of wheels to the next one, with all of its exceptions, and have it checked by two people',
    ].entries()) {
      const { body } = await admin.post('/api/tasks/', { projectId, title });
      for (const actor of [worker, leader])
        for (let day = 2; day <= 20; day += 1) {
          if (day % 7 === 0 || day % 7 === 1) continue;
          const hour = 8 + 4 * index + (currency === 'EUR' ? 0 : 2);
          await logHours(
            actor,
            body._id,
            `2026-03-${String(day).padStart(2, '0')}`,
            `${hour}`.padStart(2, '0'),
            `${hour + 2}`,
          );
        }
    }
  }
  const { projectId: unused } = await startWork(admin, { name: 'Loom' });
  const { _id } = (await submit(worker)).body;
  await admin.post('/api/timesheet-periods/decide/', { period_ids: [_id], decision: 'approve' });

  const print = async (actor: Actor, query: string): Promise<Picture[]> => {
    const path = `/api/timesheets/${actor.companyId}/?from=2026-03-01&to=2026-03-31&format=pdf&${query}`;
    return draw((await download(actor, path)).bytes);
  };

  test.each([
    ['day', ''],
    ['week', 'groupBy=week'],
    ['task', 'groupBy=task&amounts=true'],
    ['project', 'groupBy=project&amounts=true&userId=WORKER'],
    ['empty', 'projectId=UNUSED'],
  ])('by %s are within their margins', async (name, query) => {
    const pictures = await print(admin, query.replace('WORKER', `${worker.employeeId}`).replace('UNUSED', `${unused}`));
    for (const [index, { png, outside, ink }] of pictures.entries()) {
      writeFileSync(artifact(`timesheet ${name} ${index + 1}.png`), png);
      expect({ name, index, outside }).toEqual({ name, index, outside: 0 });
      expect(ink).toBeGreaterThan(0.001);
      expect(ink).toBeLessThan(0.2);
    }
    const folder = process.env['DEMO_PICTURES'];
    if (folder !== undefined && name === 'project')
      copyFileSync(artifact('timesheet project 1.png'), join(folder, 'timesheet.png'));
  });

  test('of a month by task go on', async () => {
    await setPolicy(admin, { period: 'month' });
    const pictures = await print(admin, `groupBy=task&amounts=true&userId=${worker.employeeId}`);
    expect(pictures.length).toBeGreaterThan(1);
    for (const [index, { png, outside }] of pictures.entries()) {
      writeFileSync(artifact(`timesheet month ${index + 1}.png`), png);
      expect({ index, outside }).toEqual({ index, outside: 0 });
    }
  });
});
