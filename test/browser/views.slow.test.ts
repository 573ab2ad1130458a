import type { Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { password } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { tabTo, waitForCount } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

/** The full hours of `Amara Okafor 12 h 30 min`. */
const hoursIn = (text: string): number => Number(/(\d+) h/.exec(text)?.[1]);

describe.skipIf(!hasBrowser)(`signing in${unlessSkipped}`, () => {
  test('by the password of the demo company; a wrong one is told', async () => {
    const visitor = await stage.arrive();
    visitor.expectTrouble(/status of 401/);
    await visitor.page.getByLabel('E-mail address').fill(stage.demo.email);
    await visitor.page.getByLabel('Password').fill(`${stage.demo.password}!`);
    await visitor.page.keyboard.press('Enter');
    await visitor.alert.filter({ hasText: 'password is wrong' }).waitFor();
    await visitor.signIn(stage.demo.email, stage.demo.password);
    await visitor.page.getByRole('heading', { name: 'Hello, Amara' }).waitFor();
    await visitor.page.reload();
    await visitor.page.getByRole('heading', { name: 'Hello, Amara' }).waitFor();
  });

  test('too often with a wrong password says how long to wait', async () => {
    const body = JSON.stringify({ email: emailOf.mei, password: 'not this one' });
    const headers = { 'Content-Type': 'application/json' };
    for (let tries = 0; tries < 10; tries += 1) await fetch(`${service.url}/login/`, { method: 'POST', headers, body });
    const { page, alert, expectTrouble } = await stage.arrive();
    expectTrouble(/status of 429/);
    await page.getByLabel('E-mail address').fill(emailOf.mei);
    await page.getByLabel('Password').fill('not this one');
    await page.keyboard.press('Enter');
    await alert.getByText(/^That was a lot at once. Try again in 1[45] minutes/).waitFor();
  });

  test('by a code from a mail, in two steps; a wrong one is told', async () => {
    const { page, button, alert, expectTrouble } = await stage.arrive();
    expectTrouble(/status of 401/);
    await button('Mailed code').click();
    await page.getByLabel('E-mail address').fill(emailOf.mateo);
    await button('Send me a code').click();
    await page.getByLabel('Code', { exact: true }).waitFor();
    await service.drain();
    const code = service.mailbox.lastCode(emailOf.mateo);
    await page.getByLabel('Code', { exact: true }).fill(code === '123456' ? '654321' : '123456');
    await page.keyboard.press('Enter');
    await alert.filter({ hasText: 'code' }).waitFor();
    // As mails show it, and as people copy it.
    await page.getByLabel('Code', { exact: true }).fill(` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe(code);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Hello, Mateo' }).waitFor();
  });

  test('asks which company, where there are several', async () => {
    const founder = await service.registerCompany({ name: 'Night Shift' });
    await service.addEmployee(founder, { email: emailOf.priya });
    const { page, button } = await stage.arrive();
    await page.getByLabel('E-mail address').fill(emailOf.priya);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Choose a company' }).waitFor();
    await button(/Harbour Lane Studio/).click();
    await page.getByRole('heading', { name: 'Hello, Priya' }).waitFor();
    await page.getByRole('link', { name: 'Ticket checkout with timed entry' }).waitFor();
  });

  test('a forgotten password is replaced by a link that is mailed, once', async () => {
    const { page, button, alert, expectTrouble, signIn } = await stage.arrive();
    await page.getByLabel('E-mail address').fill(emailOf.jonas);
    await page.getByRole('link', { name: 'Forgotten your password?' }).click();
    await page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
    await page.getByLabel('E-mail address').fill(emailOf.jonas);
    await button('Send me a link').click();
    await page.getByRole('status').getByText(`If ${emailOf.jonas} is known here`).waitFor();
    await service.drain();
    const [, token] = /reset-password\?token=([\w-]+)/.exec(service.mailbox.to(emailOf.jonas).at(-1)!.text)!;
    const link = `${stage.pageUrl}#/reset-password?token=${token}`;
    await page.goto(link);
    expectTrouble(/status of 40[01]/);
    await page.getByLabel('New password').fill('password');
    await button('Change the password').click();
    await page.getByText('This one is easily guessed').waitFor();
    expect((await focusedLabel(page)).label).toBe('New password');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('New password').fill('seven green bottles');
    await button('Change the password').click();
    await page.getByText('Your password is changed.').waitFor();
    expect(page.url()).not.toContain(token);
    await page.goto(link);
    await page.getByLabel('New password').fill('eight green bottles');
    await button('Change the password').click();
    await alert.getByText('was used').waitFor();
    await page.getByRole('link', { name: 'Ask for a new link' }).click();
    await page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
    await page.getByRole('link', { name: 'Back to the sign-in' }).click();
    await signIn(emailOf.jonas, 'seven green bottles');
  });

  test('and all that leads to a comment needs the keyboard only', async () => {
    await service.signIn(emailOf.amara);
    const { page, comment } = await stage.arrive();
    const { keyboard } = page;
    await tabTo(page, /^E-mail address/);
    await keyboard.type(emailOf.amara);
    await tabTo(page, /^Password$/);
    await keyboard.type(password);
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'Plan the next quarter' }).waitFor();
    await tabTo(page, /^Skip to the content/);
    await keyboard.press('Enter');
    await tabTo(page, /^Plan the next quarter$/);
    await keyboard.press('Enter');
    await page.getByLabel('Write a comment').waitFor();
    await tabTo(page, /^Write a comment$/);
    await keyboard.type('By keyboard alone, @jon');
    await page.getByRole('option', { name: /Jonas/ }).waitFor();
    await keyboard.press('Tab');
    await tabTo(page, /^Comment$/);
    await keyboard.press('Enter');
    await comment('By keyboard alone').getByText('@Jonas Lindqvist').waitFor();
  });
});

describe.skipIf(!hasBrowser)(`the views${unlessSkipped}`, () => {
  test('a timer starts on a task, goes on through a reload, and its time counts when it stops', async () => {
    const { page, openTask, button } = await stage.visit('amara');
    await openTask('Plan the next quarter');
    const logged = page
      .getByRole('region', { name: 'Logged time' })
      .getByRole('listitem')
      .filter({ hasText: 'Amara Okafor' });
    const before = hoursIn(await logged.innerText());
    await button('Start timer').click();
    const running = page.getByRole('region', { name: 'Running timer' });
    await running.getByText(/^0:\d\d:\d[1-9]$/).waitFor();
    await page.reload();
    await running.getByRole('link', { name: 'Plan the next quarter' }).waitFor();
    service.clock.advance({ hours: 1 });
    await running.getByRole('button', { name: 'Stop the timer' }).click();
    await running.waitFor({ state: 'detached' });
    await expect.poll(async () => hoursIn(await logged.innerText())).toBe(before + 1);
    await button('Start timer').waitFor();
  });

  test('a timer starts once, however often and fast its button is clicked', async () => {
    const { page, openTask, button, alert } = await stage.visit('jonas');
    const running = page.getByRole('region', { name: 'Running timer' });
    await openTask('Switch languages without losing the page');
    let starts = 0;
    let answer: () => void = () => {};
    await page.route('**/trpc/timers.start*', async (route) => {
      starts += 1;
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    await button('Start timer').dblclick();
    await button('Start timer').click();
    await expect.poll(() => starts).toBe(1);
    answer();
    await running.waitFor();
    await page.unroute('**/trpc/timers.start*');
    await page.getByRole('button', { name: /^Stop timer/ }).click();
    await running.waitFor({ state: 'detached' });
    await button('Start timer').dblclick({ delay: 100 });
    await running.waitFor();
    expect(await alert.allInnerTexts()).toEqual(['']);
    await running.getByRole('button', { name: 'Stop the timer' }).click();
    await running.waitFor({ state: 'detached' });
    expect(starts).toBe(1);
  });

  test('a timer can be stopped in windows of every width, and covers nothing of the header', async () => {
    const founder = await service.registerCompany({ name: `The Honourable Society of the ${'Harbour'.repeat(9)}` });
    const { taskId } = await startWork(founder);
    await founder.post('/api/tasklogs/timer/start/', { taskId });
    await service.signIn(founder.email);
    const { page, signIn, button, bell } = await stage.arrive();
    await signIn(founder.email);
    await button('Stop the timer').waitFor();
    const parts = [
      button('Stop the timer'),
      button(/^Colours/),
      bell,
      button(/^Your account/),
      page.getByRole('link', { name: 'Board', exact: true }),
      page.getByRole('link', { name: 'People', exact: true }),
      page.getByRole('combobox', { name: 'Search' }),
    ];
    for (const width of [1440, 1280, 1220, 1210, 1100, 1000, 980, 800, 740, 730, 400]) {
      await page.setViewportSize({ width, height: 700 });
      // Each can be clicked in its middle: nothing lies over it.
      for (const part of parts) await part.click({ trial: true, timeout: 5000 });
    }
  });

  test('the hours of the week stand in a chart and in a table, as the service counts them', async () => {
    const { page, button } = await stage.visit('mateo');
    const mateo = await service.signIn(emailOf.mateo);
    await page.getByRole('link', { name: 'Hours', exact: true }).click();
    // The week before has five days of work, whatever today is.
    await page.getByRole('heading', { name: 'Hours this week' }).waitFor();
    await button('The week before').click();
    await page.getByRole('heading', { name: 'Hours last week' }).waitFor();
    const chart = page.getByRole('img', { name: /^Hours by day: Monday \d+ h/ });
    await chart.waitFor();
    await waitForCount(page, chart.locator('path'), 5);
    await page.getByText('Show as a table').click();
    const total = () =>
      page
        .getByRole('row', { name: /^All days/ })
        .getByRole('cell')
        .innerText();
    const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Lisbon' }).format();
    const monday = Date.parse(today) - (((new Date(today).getUTCDay() + 6) % 7) + 7) * 86_400_000;
    const [from, to] = [0, 6].map((days) => new Date(monday + days * 86_400_000).toISOString().slice(0, 10));
    const { body } = await mateo.get(
      `/api/timesheets/${mateo.companyId}/?from=${from}&to=${to}&userId=${mateo.employeeId}&groupBy=day`,
    );
    const minutes = Math.round(body.totalSeconds / 60);
    const rest = minutes % 60 === 0 ? '' : ` ${String(minutes % 60).padStart(2, '0')} min`;
    const counted = `${Math.floor(minutes / 60)} h${rest}`;
    // At the end of a week that one has five days as well, and stands there until the week before has come.
    await expect.poll(total).toBe(counted);
    // A team leader sees everybody.
    await button('Everybody’s').click();
    await expect.poll(total).not.toBe(counted);
  });

  test('hours that cannot be read are not those of the week before', async () => {
    const visitor = await stage.visit('mateo');
    const { page, button } = visitor;
    await page.getByRole('link', { name: 'Hours', exact: true }).click();
    const chart = page.getByRole('img', { name: /^Hours by day/ });
    await chart.waitFor();
    visitor.expectTrouble(/status of 418|ERR_FAILED/);
    await page.route('**/trpc/timesheets.get*', async (route) => route.fulfill({ status: 418, body: 'tea' }));
    await button('The week before').click();
    await button('Try again').waitFor();
    expect(await chart.count()).toBe(0);
    await page.unroute('**/trpc/timesheets.get*');
    await button('Try again').click();
    await chart.waitFor();
    await page.route('**/trpc/timesheets.get*', async (route) => route.abort());
    await button('The week before').click();
    // Nothing was to be saved.
    await page.getByText('The service did not answer. Try again in a moment.').waitFor();
    await page.unroute('**/trpc/timesheets.get*');
  });

  test('projects that could not be read are read again, without anybody asking', async () => {
    const visitor = await stage.arrive();
    visitor.expectTrouble(/status of 418/);
    await service.signIn(emailOf.mateo);
    const answers: number[] = [];
    visitor.page.on('response', (response) => {
      if (response.url().includes('/trpc/projects.list')) answers.push(response.status());
    });
    const refuse = async (route: Route) => route.fulfill({ status: 418, body: 'tea' });
    await visitor.page.route('**/trpc/projects.list*', refuse, { times: 1 });
    await visitor.signIn(emailOf.mateo);
    await visitor.button('New task').waitFor();
    expect(answers.slice(0, 2)).toEqual([418, 200]);
  });

  test('a task whose answer gets lost, and that is added again, is there once', async () => {
    const visitor = await stage.visit('mateo');
    const { page, button } = visitor;
    visitor.expectTrouble(/ERR_FAILED/);
    let isLost = true;
    await page.route('**/trpc/tasks.create*', async (route) => {
      const response = await route.fetch();
      if (isLost) await route.abort();
      else await route.fulfill({ response });
    });
    await button('New task').click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByLabel('Title').fill('Sweep the quay');
    await dialog.getByRole('button', { name: 'Add the task' }).click();
    await dialog.getByText('may not have been saved').waitFor();
    isLost = false;
    await dialog.getByRole('button', { name: 'Add the task' }).click();
    await dialog.waitFor({ state: 'detached' });
    const mateo = await service.signIn(emailOf.mateo);
    const { body } = await mateo.get(`/api/tasks/company/${mateo.companyId}/?q=Sweep`);
    expect(body.total).toBe(1);
  });

  test('what fails after its dialog was closed is told all the same', async () => {
    const visitor = await stage.visit('mateo');
    const { page, button, alert } = visitor;
    visitor.expectTrouble(/ERR_FAILED/);
    const { promise: isClosed, resolve: lose } = Promise.withResolvers<void>();
    await page.route('**/trpc/tasks.create*', async (route) => {
      await isClosed;
      await route.abort();
    });
    await button('New task').click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByLabel('Title').fill('Sweep the stairs');
    await dialog.getByRole('button', { name: 'Add the task' }).click();
    await dialog.getByRole('button', { name: 'Adding…' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    lose();
    await alert.getByText('may not have been saved').waitFor();
  });

  test('a company without tasks begins with its first ones', async () => {
    const founder = await service.registerCompany({ name: 'Blank Page', firstName: 'Wanda' });
    await service.signIn(founder.email);
    const visitor = await stage.arrive();
    const { page, button } = visitor;
    await visitor.signIn(founder.email);
    await page.getByRole('heading', { name: 'Nothing to do at Blank Page, yet' }).waitFor();
    visitor.expectTrouble(/status of 400/);
    await page.getByLabel('Name of the project').fill('  ');
    await button('Start the project').click();
    await page.getByText('The name must not be empty.').waitFor();
    expect(await page.getByLabel('Name of the project').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name of the project').fill('Garden');
    await page.getByLabel('First task').fill('Water the roses');
    await button('Start the project').click();
    await page.getByRole('region', { name: 'To do' }).getByRole('link', { name: 'Water the roses' }).waitFor();

    await button('New task').click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    visitor.expectTrouble(/status of 400/);
    await dialog.getByLabel('Title').fill('  ');
    await dialog.getByRole('button', { name: 'Add the task' }).click();
    await dialog.getByText('The title must not be empty.').waitFor();
    expect(await page.evaluate('document.activeElement?.id')).toBe('task-title');
    await dialog.getByLabel('Title').fill('Cut the hedge');
    await dialog.getByRole('button', { name: 'Add the task' }).click();
    await dialog.waitFor({ state: 'detached' });
    await visitor.openTask('Cut the hedge');
    await page.getByLabel('Status').selectOption('Done');
    await page.locator('.status-picker.status-done').waitFor();
    await visitor.goHome();
    await page.getByRole('region', { name: 'Done' }).getByRole('link', { name: 'Cut the hedge' }).waitFor();
  });

  test('an address of what cannot be there says so, and nothing is asked for', async () => {
    const { page } = await stage.visit('amara');
    for (const place of ['tasks/9999999999999999', 'people/9007199254740992', 'week/9999-12-31', 'week/0000-01-01']) {
      await page.goto(`${stage.pageUrl}#/tasks`);
      await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor();
      await page.goto(`${stage.pageUrl}#/${place}`);
      await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor();
    }
    await page.goto(`${stage.pageUrl}#/week/8999-12-31`);
    await page.getByRole('heading', { level: 1, name: /^In \d+ weeks$/ }).waitFor();
  });

  test('a message that the service should never have let through does nothing here', async () => {
    const founder = await service.registerCompany({ name: 'Open Door', firstName: 'Wanda' });
    const { taskId } = await startWork(founder);
    const { body } = await founder.post('/api/task-chats/', { taskId, sender: founder.employeeId, message: 'x' });
    const hostile = `<p onclick="alert(1)" style="position:fixed;inset:0">Fine <b>words</b></p><script>document.title='taken'</script>
      <img src="https://elsewhere.example/x.png" onerror="document.title='taken'"><a href="javascript:alert(1)">press</a>
      <svg><script>document.title='taken'</script></svg><iframe src="https://elsewhere.example"></iframe>`;
    await service.database.db
      .updateTable('comments')
      .set({ message: hostile })
      .where('company_id', '=', founder.companyId)
      .where('comment_id', '=', body._id)
      .execute();
    await service.signIn(founder.email);
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#/tasks/${taskId}` });
    // It is only looked at, and even so the policy would have stopped it.
    visitor.expectTrouble(/Content Security Policy/);
    await visitor.signIn(founder.email);
    await visitor.comment('Fine words').waitFor();
    const shown = visitor.page.locator('.rich-text');
    expect((await shown.innerHTML()).replaceAll(/\s+/g, ' ')).toBe('<p>Fine <b>words</b></p> press ');
    expect(await visitor.page.title()).toContain('Turn the crank');
  });
});
