import { beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { overflow, stickingOut, untilPersonIsRead } from './in-page.ts';
import { artifact, setStage } from './stage.ts';
import type { Visitor } from './visitor.ts';

/* The demo page on phones, with words and names longer than any phone is wide. */

const stage = await setStage();

const unbroken = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
const long = {
  company: `${unbroken.slice(0, 60)} and Sons`,
  otherCompany: `The Honourable Society of the ${unbroken}`,
  project: `Move the ${unbroken} to the new quarters by the river before winter`,
  task: `Label_${'every_single_box_'.repeat(10)}`,
  name: `Wilhelmina-${'Alexandra'.repeat(7)} von und zu ${unbroken.slice(0, 50)}`,
  email: `${'wilhelmina.alexandra'.repeat(3)}@${'long-subdomain.'.repeat(4)}example.com`,
  designation: `Head of ${unbroken}`,
  words: `https://example.com/${'a-very-long-path/'.repeat(12)} ${unbroken}${unbroken}`,
};

const widths = [320, 360, 414] as const;

/** What is laid over a view, without being a dialog. */
const overlays = new Set(['search', 'mention', 'notifications', 'account']);

async function sent<Sent extends Awaited<ReturnType<Actor['post']>>>(answer: Promise<Sent>): Promise<Sent['body']> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

describe.skipIf(!hasBrowser)(`words longer than a phone is wide${unlessSkipped}`, () => {
  let wanda: Actor;
  let taskId: number;

  beforeAll(async () => {
    const { service } = stage;
    wanda = await service.registerCompany({ name: long.company, email: long.email, firstName: 'Wilhelmina' });
    await sent(wanda.patch(`/api/employees/${wanda.employeeId}/`, { name: long.name, designation: long.designation }));
    const other = await service.addEmployee(wanda, { designation: long.designation });
    await sent(wanda.patch(`/api/employees/${other.employeeId}/`, { name: `Xaver ${long.name}` }));
    const elsewhere = await service.registerCompany({ name: long.otherCompany });
    await service.addEmployee(elsewhere, { email: other.email });

    const project = await sent(wanda.post('/api/projects/', { name: long.project, description: long.words }));
    const dueDate = '2020-01-01';
    const task = {
      projectId: project._id,
      title: long.task,
      description: long.words,
      dueDate,
      estimatedHours: 12_345.67,
    };
    taskId = (
      await sent(
        other.post('/api/tasks/', { ...task, owner_id: other.employeeId, collaboratorIds: [wanda.employeeId] }),
      )
    )._id;
    for (const status of ['in_progress', 'in_review', 'done'])
      await sent(wanda.post('/api/tasks/', { ...task, status }));
    const endTime = service.clock.now();
    const startTime = new Date(endTime.getTime() - 3_600_000);
    for (const { employeeId } of [wanda, other])
      await sent(
        wanda.post('/tasklog/create/', {
          task_id: taskId,
          employee_id: employeeId,
          start_time: startTime,
          end_time: endTime,
          description: '',
        }),
      );
    await sent(wanda.put(`/api/time-policy/${wanda.companyId}/`, { requireApproval: true }));
    const monday = new Date(endTime.getTime() - (((endTime.getUTCDay() + 6) % 7) + 14) * 86_400_000);
    const period_start = monday.toISOString().slice(0, 10);
    for (const { employeeId: employee_id } of [wanda, other]) {
      const { _id } = await sent(wanda.post('/api/timesheet-periods/submit/', { employee_id, period_start }));
      if (employee_id === wanda.employeeId)
        await sent(
          wanda.post('/api/timesheet-periods/decide/', { period_ids: [_id], decision: 'reject', note: long.words }),
        );
    }
    let reply_to: number | undefined;
    for (let depth = 0; depth < 7; depth += 1) {
      const message = `<p>${long.words} <code>${unbroken}</code></p><pre>${unbroken}${unbroken}</pre><p>@${long.email}</p>`;
      reply_to = (
        await sent(
          other.post('/api/task-chats/', {
            taskId,
            sender: other.employeeId,
            message,
            reply_to,
            image: `https://example.com/${unbroken}`,
          }),
        )
      )._id;
    }
    await sent(wanda.post('/api/tasklogs/timer/start/', { taskId }));
    await service.drain();
    await service.signIn(wanda.email, wanda.companyId);
    await service.signIn(other.email, wanda.companyId);
    otherEmail = other.email;
  });
  let otherEmail: string;

  /** Goes through every view and looks at each. */
  async function tour(visitor: Visitor, look: (view: string) => Promise<void>): Promise<void> {
    const { page, button, bell } = visitor;
    await look('sign-in');
    await page.getByLabel('E-mail address').fill(long.email);
    await page.getByLabel('Password').fill('wrong');
    visitor.expectTrouble(/status of 401/);
    await page.keyboard.press('Enter');
    await visitor.alert.filter({ hasText: 'wrong' }).waitFor();
    await look('wrong password');
    await button('Mailed code').click();
    await button('Send me a code').click();
    await page.getByLabel('Code', { exact: true }).waitFor();
    await look('code');
    await page.reload();
    await page.getByLabel('E-mail address').fill(otherEmail);
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Choose a company' }).waitFor();
    await look('companies');
    await page.goto(`${stage.pageUrl}#/reset-password?token=${'x'.repeat(60)}`);
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    await look('new password');
    await page.goto(`${stage.pageUrl}#/forgotten-password`);
    await page.getByLabel('E-mail address').fill(long.email);
    await button('Send me a link').click();
    await page.getByText('is known here').waitFor();
    await look('forgotten password');
    await page.goto(stage.pageUrl);
    await page.reload();
    await visitor.signIn(wanda.email);
    await page.getByText('Hours this week').waitFor();
    await page.getByRole('region', { name: 'Done' }).getByRole('link').first().waitFor();
    await page.getByRole('region', { name: 'Running timer' }).waitFor();
    await look('board');
    await page.getByRole('combobox', { name: 'Search' }).fill('donaudampf');
    await page.locator('.search-result').last().waitFor();
    await look('search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByLabel('Project', { exact: true }).selectOption({ index: 1 });
    await look('project');
    await button('New task').click();
    await page.getByLabel('Project', { exact: true }).last().waitFor();
    await look('new task');
    await button('Close').click();
    await page.goto(`${stage.pageUrl}#/tasks/${taskId}`);
    await page.getByRole('region', { name: 'Logged time' }).waitFor();
    await page.locator('.rich-text').last().waitFor();
    await look('task');
    await button('Edit').first().click();
    await page.getByRole('button', { name: /^Remove/ }).waitFor();
    await look('edit task');
    await button('Close').click();
    await button('Delete…').first().click();
    await page.getByText('cannot be found any more').waitFor();
    await look('question');
    await button('Cancel').click();
    await button('Add time').click();
    await page.getByRole('option', { name: 'Choose one' }).waitFor({ state: 'attached' });
    await look('add time');
    await button('Close').click();
    await page.getByText('My entries').click();
    await page
      .getByRole('button', { name: /^Delete/ })
      .last()
      .waitFor();
    await look('my entries');
    const first = page.locator('article.comment').first();
    await first.getByRole('button', { name: 'Reply' }).click();
    await page.getByLabel(/^Reply to /).fill(`${unbroken} @x`);
    await page.getByRole('listbox').waitFor();
    await look('mention');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await bell.click();
    await page.locator('.notification').first().waitFor();
    await look('notifications');
    await page.keyboard.press('Escape');
    await button(/^Your account/).click();
    await look('account');
    await page.getByRole('link', { name: 'Notification preferences' }).click();
    await page.getByRole('checkbox', { name: 'Tasks, by mail' }).waitFor();
    await look('preferences');
    await page.getByRole('link', { name: 'API keys' }).click();
    await button('Make a key').click();
    await page.getByLabel('Name', { exact: true }).fill(unbroken);
    await look('new key');
    await button('Make the key').click();
    await page.getByLabel('The key').waitFor();
    await look('keys');
    await page
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click();
    await page.getByText('What uses it is refused').waitFor();
    await look('revocation');
    await button('Cancel').click();
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.getByText('This one').waitFor();
    await look('settings');
    await page.getByRole('link', { name: 'Company', exact: true }).click();
    await page.getByText('All plans').click();
    await look('company');
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page.locator('.directory-row').last().waitFor();
    await look('people');
    await button('Invite somebody').click();
    await page.getByLabel('First name').waitFor();
    await look('invite');
    await button('Close').click();
    await page.getByRole('link', { name: `Xaver ${long.name}` }).click();
    await untilPersonIsRead(page);
    await look('person');
    await button('Edit').click();
    await page.getByLabel('Shown as').waitFor();
    await look('edit person');
    await button('Close').click();
    await page.getByRole('link', { name: 'Hours', exact: true }).click();
    await page.getByRole('img', { name: /^Hours by day/ }).waitFor();
    await button('Everybody’s').click();
    await page.getByText('Show as a table').click();
    await page.locator('.shares li').first().waitFor();
    await look('hours');
    await page.getByRole('link', { name: 'Week', exact: true }).click();
    await page.getByRole('link', { name: 'The week before' }).click();
    await page.getByRole('heading', { level: 1, name: 'Last week' }).waitFor();
    await page.getByRole('link', { name: 'The week before' }).click();
    await page.getByText('Correct it and submit it again').waitFor();
    await page.getByText('By day of Xaver').click();
    await look('week');
    await button(/^Reject Xaver/).click();
    await page.getByLabel('What is to be corrected').waitFor();
    await look('rejection');
    await button('Close').click();
    await page.goto(`${stage.pageUrl}#/tasks/999999999`);
    await page.getByRole('heading', { name: 'This task is not there' }).waitFor();
    visitor.expectTrouble(/status of 404/);
    await look('missing');
  }

  test('never make a view scroll sideways, on narrow phones and wide ones', async () => {
    const visitor = await stage.arrive({
      viewport: { width: widths[0], height: 740 },
      deviceScaleFactor: 1,
      isMobile: true,
      hasTouch: true,
      reducedMotion: 'no-preference',
    });
    const { page } = visitor;
    const wide: string[] = [];
    await tour(visitor, async (view) => {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 740 });
        const over = await overflow(page);
        const out = await stickingOut(page);
        if (over === 0 && out.length === 0) continue;
        wide.push(`${view} at ${width}: ${over} pixels; ${out.join(', ')}`);
        // What is laid over a view is seen where the window is.
        const fullPage = (await page.getByRole('dialog').count()) === 0 && !overlays.has(view);
        await page.screenshot({ path: artifact(`${width} ${view}.png`), fullPage });
      }
    });
    expect(wide).toEqual([]);
  });
});
