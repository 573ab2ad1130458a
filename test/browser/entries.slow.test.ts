import { describe, expect, test } from 'vitest';
import { wallTimeOf, momentOf, parseDuration } from '../../client-sdk/examples/web/src/entries/wall-time.ts';
import type { Actor } from '../support/actor.ts';
import { setPolicy, submit } from '../support/periods.ts';
import { startWork } from '../support/work.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, overflow } from './in-page.ts';
import { setStage } from './stage.ts';
import { tabTo, waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;
const zone = 'America/New_York';

/** A company of one in New York, with one task, and its window at the address. */
async function begin(address: (taskId: number) => string, options = {}) {
  const wanda = await service.registerCompany({ name: 'Night Shift', firstName: 'Wanda' });
  await wanda.put(`/company/${wanda.companyId}/update/`, { timezone: zone });
  const { taskId } = await startWork(wanda);
  await service.signIn(wanda.email);
  const visitor = await stage.arrive({ url: `${stage.pageUrl}#/${address(taskId)}`, ...options });
  await visitor.signIn(wanda.email);
  const today = wallTimeOf(service.clock.now().getTime(), zone).day;
  const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
  return { wanda, taskId, visitor, yesterday };
}

const logsOf = async (actor: Actor, taskId: number) => (await actor.get(`/taskLogs/task/${taskId}/`)).body.taskLogs;
const logged = ({ page }: Visitor) => page.getByRole('region', { name: 'Logged time' });
const dialogOf = ({ page }: Visitor) => page.getByRole('dialog');

describe('times of day', () => {
  test.each([
    ['2026-11-23', '09:00', 'Asia/Kolkata', '2026-11-23T03:30:00.000Z'],
    ['2026-07-01', '23:59', 'Europe/Lisbon', '2026-07-01T22:59:00.000Z'],
    // On the days on which clocks change; the skipped hour is as much later.
    ['2026-03-08', '01:30', 'America/New_York', '2026-03-08T06:30:00.000Z'],
    ['2026-03-08', '02:30', 'America/New_York', '2026-03-08T07:30:00.000Z'],
    ['2026-03-08', '03:00', 'America/New_York', '2026-03-08T07:00:00.000Z'],
    ['2026-03-29', '01:30', 'Europe/Lisbon', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25', '02:00', 'Europe/Lisbon', '2026-10-25T02:00:00.000Z'],
  ])('%s %s in %s is one moment', (day, time, timezone, moment) => {
    expect(momentOf({ day, time }, timezone)).toBe(moment);
  });

  test.each([
    ['1:30', 90],
    ['1.5', 90],
    ['1,5 h', 90],
    ['1h30', 90],
    ['1 h 30 min', 90],
    ['90 min', 90],
    ['2', 120],
    ['0:05', 5],
    ['24', null],
    ['0', null],
    ['', null],
    ['1:3', null],
    ['soon', null],
  ])('the duration %j is %j minutes', (text, minutes) => {
    expect(parseDuration(text)).toBe(minutes);
  });
});

describe.skipIf(!hasBrowser)(`time by hand${unlessSkipped}`, () => {
  test('is added with the keyboard alone, by the clocks of the company, over midnight too', async () => {
    const { wanda, taskId, visitor, yesterday } = await begin((id) => `tasks/${id}`);
    const { page } = visitor;
    const { keyboard } = page;
    await logged(visitor).waitFor();
    await tabTo(page, /^Add time$/);
    await keyboard.press('Enter');
    await dialogOf(visitor).getByText(`by the clocks of ${zone}`).waitFor();
    await page.getByLabel('Day').fill(yesterday);
    await page.getByLabel('Start').fill('22:30');
    await page.getByLabel('Duration').fill('2,5 h');
    expect(await page.getByLabel('End').inputValue()).toBe('01:00');
    await dialogOf(visitor).getByText('2 h 30 min, until the next day').waitFor();
    await page.getByLabel('End').fill('00:45');
    expect(await page.getByLabel('Duration').inputValue()).toBe('2:15');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('What it was').fill('Moved the <boxes> & chairs');
    await tabTo(page, /^Add the time$/);
    await keyboard.press('Enter');
    await dialogOf(visitor).waitFor({ state: 'detached' });
    expect(await focusedText(page)).toBe('Add time');
    await logged(visitor).locator('.logged-total').getByText('2 h 15 min').waitFor();
    const [log] = await logsOf(wanda, taskId);
    expect(log).toMatchObject({
      startTime: momentOf({ day: yesterday, time: '22:30' }, zone),
      durationSeconds: 2.25 * 3600,
      description: 'Moved the <boxes> & chairs',
    });
  });

  test('is refused beside the field that is wrong, in a sentence', async () => {
    const { wanda, taskId, visitor, yesterday } = await begin((id) => `tasks/${id}`);
    const { page, button } = visitor;
    const add = async (day: string, start: string, end: string) => {
      await page.getByLabel('Day').fill(day);
      await page.getByLabel('Start').fill(start);
      await page.getByLabel('End').fill(end);
      await button('Add the time').click();
    };
    await button('Add time').click();
    visitor.expectTrouble(/status of 400/);
    await add(yesterday, '09:00', '09:00');
    await page.getByText('The end must be after the start.').waitFor();
    expect((await focusedLabel(page)).label).toBe('End');
    await add(yesterday, '09:00', '10:00');
    await dialogOf(visitor).waitFor({ state: 'detached' });
    await button('Add time').click();
    visitor.expectTrouble(/status of 409/);
    await add(yesterday, '09:00', '11:00');
    await page.getByText('You have time on this task that begins at this very moment').waitFor();
    expect((await focusedLabel(page)).label).toBe('Start');

    await setPolicy(wanda, { requireApproval: true });
    await submit(wanda, wanda.employeeId, '2026-01-05');
    visitor.expectTrouble(/status of 409/);
    await add('2026-01-07', '09:00', '11:00');
    await page.getByText(/^Wednesday,? 7 January is locked: the time was handed in/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await logsOf(wanda, taskId)).toHaveLength(1);
    // What is no duration is not sent.
    await page.getByLabel('Day').fill(yesterday);
    await page.getByLabel('Duration').fill('soon');
    await button('Add the time').click();
    expect((await focusedLabel(page)).label).toBe('Duration');
    expect(await logsOf(wanda, taskId)).toHaveLength(1);
    // A year of two digits is one of antiquity to a browser.
    await add(`00${yesterday.slice(2)}`, '09:00', '11:00');
    expect((await focusedLabel(page)).label).toBe('Day');
    expect(await dialogOf(visitor).getByRole('alert').count()).toBe(0);
  });

  test('is changed without touching what nobody changed, and deleted, in the week and on a phone', async () => {
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
    const { wanda, taskId, visitor, yesterday } = await begin(() => 'people', phone);
    const { page, button } = visitor;
    const startTime = momentOf({ day: yesterday, time: '09:00' }, zone).replace('00.000Z', '27.123Z');
    const endTime = momentOf({ day: yesterday, time: '10:30' }, zone).replace('00.000Z', '41.456Z');
    const input = { task_id: taskId, employee_id: wanda.employeeId, start_time: startTime, end_time: endTime };
    const { body: made } = await wanda.post('/tasklog/create/', { ...input, description: 'Counted' });
    await page.goto(`${stage.pageUrl}#/week/${yesterday}`);
    await page.getByText('My entries').tap();
    const entries = page.locator('.entries li');
    await waitForCount(page, entries, 1);
    expect(await entries.innerText()).toContain('1 h 30 min');
    expect(await overflow(page)).toBe(0);
    await page.getByRole('button', { name: /^Edit/ }).tap();
    await page.getByLabel('What it was').fill('Counted twice');
    expect(await overflow(page)).toBe(0);
    await button('Save').tap();
    await entries.getByText('Counted twice').waitFor();
    expect(await logsOf(wanda, taskId)).toMatchObject([{ startTime, endTime, description: 'Counted twice' }]);

    // Somebody else was faster.
    await page.getByRole('button', { name: /^Edit/ }).tap();
    await page.getByLabel('End').fill('11:00');
    const theirs = momentOf({ day: yesterday, time: '12:00' }, zone);
    await wanda.put(`/tasklogs/${made._id}/`, { endTime: theirs });
    await button('Save').tap();
    await page.getByText('Somebody has changed this in the meantime, to “12:00”').waitFor();
    expect(await logsOf(wanda, taskId)).toMatchObject([{ endTime: theirs }]);
    await button('Save').tap();
    await dialogOf(visitor).waitFor({ state: 'detached' });
    expect(await logsOf(wanda, taskId)).toMatchObject([
      { startTime, endTime: momentOf({ day: yesterday, time: '11:00' }, zone) },
    ]);

    await page.getByRole('button', { name: /^Delete/ }).tap();
    await page.getByText('It leaves all totals.').waitFor();
    // It is gone already, by another window.
    await wanda.delete(`/api/tasklogs/delete/${made._id}/`);
    visitor.expectTrouble(/status of 404/);
    await button('Delete').tap();
    await page.getByText('Nothing was logged in this week.').waitFor();
    expect(await focusedText(page)).toBe('My entries');
    expect(await logsOf(wanda, taskId)).toEqual([]);
  });
});
