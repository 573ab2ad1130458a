import { describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { setPolicy, submit } from '../support/periods.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, overflow } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { tabTo, waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

/** The Monday so many weeks before this one, in the time zone of the demo company. */
function mondayBefore(weeks: number): string {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Lisbon' }).format();
  const days = ((new Date(today).getUTCDay() + 6) % 7) + 7 * weeks;
  return new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
}

const statusOf = async (actor: Actor, firstDay: string): Promise<string | undefined> => {
  const { body } = await actor.get(
    `/api/timesheet-periods/company/${actor.companyId}/?employee_id=${actor.employeeId}`,
  );
  return body.results.find((one: { firstDay: string }) => one.firstDay === firstDay)?.status;
};

const timesheet = ({ page }: Visitor) => page.getByRole('region', { name: /^Timesheet/ });
const waiting = ({ page }: Visitor) => page.getByRole('region', { name: /^Waiting for approval/ });
const rowOf = (visitor: Visitor, name: string) => waiting(visitor).locator('.waiting-row').filter({ hasText: name });

/** The window of somebody of the demo company, at their last week. */
async function visitLastWeek(person: keyof typeof emailOf): Promise<Visitor> {
  const visitor = await stage.visit(person, { url: `${stage.pageUrl}#/week/${mondayBefore(1)}` });
  await visitor.page.getByRole('heading', { level: 1, name: 'Last week' }).waitFor();
  return visitor;
}

describe.skipIf(!hasBrowser)(`the week${unlessSkipped}`, () => {
  test('shows what was worked on each day against what is expected, as the service counts it', async () => {
    const amara = await service.signIn(emailOf.amara);
    const from = mondayBefore(1);
    const friday = new Date(Date.parse(from) + 4 * 86_400_000).toISOString().slice(0, 10);
    await setPolicy(amara, { expectedMinutes: [480, 480, 480, 480, 300, 0, 0] });
    const { body } = await amara.get(
      `/api/timesheets/${amara.companyId}/?from=${friday}&to=${friday}&userId=${amara.employeeId}&groupBy=day`,
    );
    const minutes = body.totalSeconds / 60;
    const inWords = (count: number): string =>
      [Math.floor(count / 60) > 0 ? `${Math.floor(count / 60)} h` : '', count % 60 > 0 ? String(count % 60) : '']
        .filter((part) => part !== '')
        .join(' ');
    const { page } = await visitLastWeek('amara');
    const cells = page.getByRole('row', { name: /^Friday/ }).getByRole('cell');
    expect(await cells.allInnerTexts()).toEqual([inWords(minutes), '5 h', `+ ${inWords(minutes - 300)}`]);
    expect(
      await page
        .getByRole('row', { name: /^All days/ })
        .getByRole('cell')
        .nth(1)
        .innerText(),
    ).toBe('37 h');
    await setPolicy(amara, { expectedMinutes: [480, 480, 480, 480, 480, 0, 0] });
  });

  test('is submitted and withdrawn with the keyboard alone; a timer that runs is told', async () => {
    const fatima = await service.signIn(emailOf.fatima);
    const { body: tasks } = await fatima.get(`/api/tasks/company/${fatima.companyId}/`);
    await fatima.post('/api/tasklogs/timer/start/', { taskId: tasks.results[0]._id });
    const visitor = await stage.visit('fatima');
    const { page, alert } = visitor;
    const { keyboard } = page;
    await tabTo(page, /^Week$/);
    await keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'This week' }).waitFor();
    await timesheet(visitor).getByText('Open', { exact: true }).waitFor();
    visitor.expectTrouble(/status of 409/);
    await tabTo(page, /^Submit the week$/);
    await keyboard.press('Enter');
    await alert.getByText('The timer of the employee runs in this period').waitFor();
    await fatima.post('/api/tasklogs/timer/stop/', {});
    await page.getByRole('region', { name: 'Running timer' }).waitFor({ state: 'detached' });

    await keyboard.press('Space');
    await timesheet(visitor).getByText('Submitted', { exact: true }).waitFor();
    await waitForCount(page, page.getByRole('row').getByText(', locked'), 7);
    expect(await focusedText(page)).toMatch(/^Timesheet/);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('log').getByText('The week is submitted').waitFor({ state: 'attached' });
    expect(await statusOf(fatima, mondayBefore(0))).toBe('submitted');
    await tabTo(page, /^Withdraw$/);
    await keyboard.press('Enter');
    await timesheet(visitor).getByText('Withdrawn, and open again.').waitFor();
    expect(await statusOf(fatima, mondayBefore(0))).toBe('open');
    await waitForCount(page, page.getByRole('row').getByText(', locked'), 0);

    await tabTo(page, /^The week before$/);
    await keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Last week' }).waitFor();
    expect(page.url()).toContain(`#/week/${mondayBefore(1)}`);
    await timesheet(visitor).getByText('Submitted', { exact: true }).waitFor();
    // Who only submits has nothing to decide on.
    expect(await waiting(visitor).count()).toBe(0);
  });

  test('is rejected with a note, which the employee reads where they are, corrected and approved', async () => {
    const mei = await visitLastWeek('mei');
    await timesheet(mei).getByText('Submitted', { exact: true }).waitFor();
    const mateo = await stage.visit('mateo', { url: `${stage.pageUrl}#/week` });
    const { keyboard } = mateo.page;
    const dialog = mateo.page.getByRole('dialog', { name: 'Reject' });
    await mateo.button(/^Reject Mei-Ling Chen/).waitFor();
    await tabTo(mateo.page, /^Reject Mei-Ling Chen/);
    await keyboard.press('Enter');
    await dialog.waitFor();
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await focusedLabel(mateo.page)).label).toMatch(/^Reject Mei-Ling Chen/);
    await keyboard.press('Enter');
    await dialog.waitFor();
    // Without a note it is not sent.
    await tabTo(mateo.page, /^Reject$/);
    await keyboard.press('Enter');
    await keyboard.type('Tuesday was at the museum.');
    await tabTo(mateo.page, /^Reject$/);
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await waiting(mateo)
      .getByRole('status')
      .getByText(/^Mei-Ling Chen, .*: rejected\.$/)
      .waitFor();
    expect(await focusedText(mateo.page)).toMatch(/^Waiting for approval/);
    await rowOf(mateo, 'Mei-Ling').waitFor({ state: 'detached' });

    // She is notified, and her page has it at once.
    await timesheet(mei).getByText('Tuesday was at the museum.').waitFor();
    await timesheet(mei).getByText('Rejected by Mateo Duarte').waitFor();
    expect(await findBarriers(mei.page)).toEqual([]);
    await mei.goHome();
    await mei.bell.click();
    await mei.page.getByRole('link', { name: /Your time was rejected/ }).click();
    await mei.page.getByRole('heading', { level: 1, name: 'Last week' }).waitFor();
    // The reminder of the last day of a period leads to the present week.
    await mei.page.goto(`${stage.pageUrl}#/timesheet-periods`);
    await mei.page.getByRole('heading', { level: 1, name: 'This week' }).waitFor();
    await mei.page.goBack();
    await mei.button('Submit again').click();
    await timesheet(mei).getByText('Submitted', { exact: true }).waitFor();
    expect(await timesheet(mei).getByText('Tuesday was at the museum.').count()).toBe(0);

    await mateo.button(/^Approve Mei-Ling Chen/).click();
    await waiting(mateo)
      .getByText(/^Mei-Ling Chen, .*: approved\.$/)
      .waitFor();
    await timesheet(mei).getByText('Approved by Mateo Duarte').waitFor();
    expect(await timesheet(mei).getByRole('button').count()).toBe(0);
  });

  test('is decided on for several at once, each with its result, and never for oneself', async () => {
    const [fatima, mateoActor] = [await service.signIn(emailOf.fatima), await service.signIn(emailOf.mateo)];
    const [lastWeek, before] = [mondayBefore(1), mondayBefore(2)];
    const { body: earlier } = await submit(fatima, fatima.employeeId, before);
    await submit(mateoActor, mateoActor.employeeId, lastWeek);
    const mateo = await stage.visit('mateo', { url: `${stage.pageUrl}#/week` });
    const own = rowOf(mateo, 'Mateo');
    await own.getByText('Your own time: somebody else decides.').waitFor();
    expect([await own.getByRole('button').count(), await own.getByRole('checkbox').count()]).toEqual([0, 0]);

    await mateo.page.getByRole('checkbox', { name: 'All' }).check();
    // Nobody is notified of a withdrawal, so it still stands in the list.
    await fatima.post('/api/timesheet-periods/withdraw/', { period_id: earlier._id });
    await mateo.button('Approve 2').click();
    const results = waiting(mateo).getByRole('status').getByRole('listitem');
    await waitForCount(mateo.page, results, 2);
    expect((await results.allInnerTexts()).map((text) => text.replace(/^.*: /, ''))).toEqual([
      'approved.',
      'left as it is, because it does not wait any more.',
    ]);
    expect([await statusOf(fatima, lastWeek), await statusOf(fatima, before)]).toEqual(['approved', 'open']);
    await waitForCount(mateo.page, waiting(mateo).locator('.waiting-row'), 1);
    // The only admin decides on everybody's.
    const amara = await stage.visit('amara', { url: `${stage.pageUrl}#/week` });
    await amara.button(/^Approve Mateo Duarte/).click();
    await waiting(amara).getByText('Nothing waits.').waitFor();
  });

  test('of a company of months belongs to the month in which it begins, which is submitted; on a phone', async () => {
    const founder = await service.registerCompany({ name: 'Month by Month', firstName: 'Wanda' });
    await setPolicy(founder, { period: 'month', weekStart: 'sunday' });
    await founder.put(`/api/holidays/${founder.companyId}/`, {
      from: '2026-03-01',
      to: '2026-03-31',
      holidays: [{ date: '2026-03-10', name: 'Day of the River' }],
    });
    await service.signIn(founder.email);
    const visitor = await stage.arrive({
      url: `${stage.pageUrl}#/week/2026-03-03`,
      viewport: { width: 360, height: 740 },
      isMobile: true,
      hasTouch: true,
    });
    const { page, button } = visitor;
    await visitor.signIn(founder.email);
    await page.getByText('1 Mar – 7 Mar').waitFor();
    await timesheet(visitor)
      .getByRole('heading', { name: /^Timesheet of March 2026/ })
      .waitFor();
    await timesheet(visitor).getByText('of 168 h expected').waitFor();
    await button('Submit the month').tap();
    // Nobody has to approve it here.
    await timesheet(visitor).getByText('Approved with its submission').waitFor();
    expect(await statusOf(founder, '2026-03-01')).toBe('approved');
    await page.getByRole('link', { name: 'The week after' }).tap();
    await page.getByText('8 Mar – 14 Mar').waitFor();
    await timesheet(visitor).getByText('Approved', { exact: true }).waitFor();
    const tuesday = page.getByRole('row', { name: 'Tuesday' });
    expect(await tuesday.getByRole('rowheader').innerText()).toContain('Day of the River');
    expect(await tuesday.getByRole('cell').nth(1).innerText()).toBe('0 min');
    expect(await overflow(page)).toBe(0);
  });
});
