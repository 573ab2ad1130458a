import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../support/proxy.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { focusedText, storedKeys } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import type { Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;
const task = 'Ticket checkout with timed entry';
/** How Chromium words it depends on what the connection was doing when it was cut. */
const cutOff = /net::ERR_|WebSocket connection/;

describe.skipIf(!hasBrowser)(`two people on one task${unlessSkipped}`, () => {
  let priya: Visitor;
  let amara: Visitor;
  beforeAll(async () => {
    priya = await stage.visit('priya', { stays: true });
    amara = await stage.visit('amara', { stays: true });
    await priya.openTask(task);
  });
  beforeEach(async () => {
    await amara.goHome();
    await amara.openTask(task);
  });

  test('see at once what the other writes, answers, likes, changes and deletes', async () => {
    await priya.say('Is <b>thirty</b> minutes & a café fine?');
    const seen = amara.comment('Is <b>thirty</b> minutes & a café fine?');
    await seen.waitFor();
    await priya.comment('Is <b>thirty</b>').getByText('Seen by Amara').waitFor();

    await seen.getByRole('button', { name: 'Like' }).click();
    await priya.comment('Is <b>thirty</b>').getByRole('button', { name: '1 like', pressed: false }).waitFor();
    await seen.getByRole('button', { name: '1 like', pressed: true }).click();
    await priya.comment('Is <b>thirty</b>').getByRole('button', { name: 'Like', exact: true }).waitFor();

    await amara.reply('Is <b>thirty</b>', 'It suits us.');
    await priya.reply('It suits us.', 'Then I draw it.');
    // Each stands among the replies to what it answers.
    const nested = amara.page
      .getByRole('list', { name: 'Replies to Priya Raman' })
      .getByRole('list', { name: 'Replies to Amara Okafor' });
    await nested.getByText('Then I draw it.').waitFor();

    await priya.comment('Then I draw it.').getByRole('button', { name: 'Edit' }).click();
    await priya.page.getByLabel('Change your comment').fill('Then I draw it today.');
    await priya.button('Save').click();
    await amara.comment('Then I draw it today.').getByText('edited').waitFor();

    await priya.comment('Is <b>thirty</b>').getByRole('button', { name: 'Delete' }).click();
    await priya.page
      .getByRole('group', { name: 'Delete this comment?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await amara.page.getByText('This comment was deleted.').waitFor();
    await amara.comment('It suits us.').waitFor();
    expect(await amara.comment('Is <b>thirty</b>').count()).toBe(0);
  });

  test('what was typed is shown as it was typed, markup and spaces included, and edited as such', async () => {
    const typed = 'if (x<y) {  z>w  } // <b>&amp;</b> <script>\n\n\n    twice  indented\n@Amara Okafor & co';
    await priya.draft(typed);
    await priya.button('Comment').click();
    const comment = amara.comment('twice');
    await comment.waitFor();
    const shown = await comment.locator('.rich-text').innerText();
    expect(shown.replaceAll('\u00A0', ' ')).toBe(typed);
    await comment.getByText('@Amara Okafor', { exact: true }).waitFor();
    await priya.comment('twice').getByRole('button', { name: 'Edit' }).click();
    const field = priya.page.getByLabel('Change your comment');
    expect(await field.inputValue()).toBe(typed);
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
  });

  test('a comment that is refused stays, with a sentence that names what is wrong', async () => {
    amara.expectTrouble(/status of 400/);
    const box = await amara.draft('long '.repeat(14_000));
    await amara.button('Comment').click();
    await amara.alert.getByText(/^The message must have/).waitFor();
    expect(await box.inputValue()).toContain('long long');
  });

  test('a comment that fails when its task was left is told all the same', async () => {
    const { page, button, alert, goHome } = amara;
    amara.expectTrouble(/ERR_FAILED/);
    const { promise: isLeft, resolve: lose } = Promise.withResolvers<void>();
    await page.route('**/trpc/comments.create*', async (route) => {
      await isLeft;
      await route.abort();
    });
    await amara.draft('Said on the way out');
    await button('Comment').click();
    await button('Sending…').waitFor();
    await goHome();
    lose();
    await alert.getByText('may not have been saved').waitFor();
    await page.unroute('**/trpc/comments.create*');
    await button('Close').click();
  });

  test('a comment whose answer gets lost is written once', async () => {
    let lost = 0;
    await priya.page.route(
      '**/trpc/comments.create*',
      async (route) => {
        await route.fetch();
        lost += 1;
        await route.abort();
      },
      { times: 1 },
    );
    priya.expectTrouble(/ERR_FAILED/);
    await priya.say('Only once, please.');
    await amara.comment('Only once, please.').waitFor();
    await amara.say('Once it is.');
    await priya.comment('Once it is.').waitFor();
    expect([
      lost,
      await amara.comment('Only once, please.').count(),
      await priya.comment('Only once, please.').count(),
    ]).toEqual([1, 1, 1]);
  });

  test('a mention rings the bell, leads to the comment, and is read in every window', async () => {
    await amara.goHome();
    const other = await amara.openTab();
    await service.drain();
    const reader = await service.signIn(emailOf.amara);
    const before: number = (await reader.get(`/notifications/unread-count/${reader.employeeId}/`)).body.unread;

    const box = await priya.draft('');
    await box.pressSequentially('Have a look, @ama');
    await priya.page.getByRole('option', { name: /Amara Okafor/, selected: true }).waitFor();
    await box.press('Enter');
    expect(await box.inputValue()).toBe('Have a look, @Amara Okafor ');
    await box.pressSequentially('when you can');
    await box.press('Control+Enter');
    await priya.comment('when you can').getByText('@Amara Okafor').waitFor();

    await amara.page.getByRole('button', { name: `Notifications, ${before + 1} unread` }).click();
    await amara.page
      .getByRole('link', { name: /^Unread: Priya Raman mentioned you/ })
      .first()
      .click();
    await amara.page.getByRole('heading', { level: 1, name: task }).waitFor();
    await amara.comment('when you can').waitFor();
    await expect.poll(() => focusedText(amara.page)).toContain('when you can');
    await other.getByRole('button', { name: `Notifications, ${before} unread` }).click();
    await other.getByRole('button', { name: 'Mark all as read' }).click();
    await amara.page.getByRole('button', { name: 'Notifications, 0 unread' }).waitFor();
    expect(service.mailbox.to(emailOf.amara).at(-1)?.text).toContain('Have a look');
  });

  test('a notification that is marked as read keeps the focus where it is', async () => {
    await priya.say('For the bell, @Amara Okafor');
    await service.drain();
    await amara.bell.click();
    const row = amara.page.getByRole('listitem').filter({ hasText: 'For the bell' });
    await row.getByRole('button', { name: /^Mark as read/ }).click();
    await row.getByRole('button', { name: /^Mark as read/ }).waitFor({ state: 'detached' });
    expect(await amara.page.evaluate('document.activeElement.localName')).toBe('a');
    expect(await focusedText(amara.page)).toContain('For the bell');
    await amara.page.keyboard.press('Escape');
  });

  test('a comment is kept by Escape, and deleted once by two clicks', async () => {
    const { page, alert, comment, say } = amara;
    await say('Here for a moment');
    const question = page.getByRole('group', { name: 'Delete this comment?' });
    const ask = async () => comment('Here for a moment').getByRole('button', { name: 'Delete' }).click();
    await ask();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await focusedText(page)).toContain('Here for a moment');
    await ask();
    amara.expectTrouble(/status of 404/);
    let requests = 0;
    await page.route('**/trpc/comments.delete*', async (route) => {
      // Both are sent before the first is answered.
      requests += 1;
      await expect.poll(() => requests).toBe(2);
      await route.continue();
    });
    await question.getByRole('button', { name: 'Delete' }).dblclick();
    await comment('Here for a moment').waitFor({ state: 'detached' });
    await page.unroute('**/trpc/comments.delete*');
    expect(await alert.allInnerTexts()).toEqual(['']);
  });

  test('who was offline misses nothing and doubles nothing', async () => {
    amara.expectTrouble(cutOff);
    const context = amara.page.context();

    await context.setOffline(true);
    await amara.page.getByText('You are offline.').waitFor();
    const box = await amara.draft('Said from the train');
    await amara.button('Comment').click();
    await amara.alert.filter({ hasText: 'nothing was sent' }).waitFor();
    expect(await box.inputValue()).toBe('Said from the train');
    await priya.say('First while you were away');
    await priya.say('Second while you were away');
    expect(await amara.comment('while you were away').count()).toBe(0);

    await context.setOffline(false);
    await amara.comment('First while you were away').waitFor();
    await amara.comment('Second while you were away').waitFor();
    await amara.page.getByText('You are offline.').waitFor({ state: 'detached' });
    await amara.button('Comment').click();
    await priya.comment('Said from the train').waitFor();
    const said = await amara.page.locator('.rich-text').allInnerTexts();
    expect(said.slice(-3)).toEqual(['First while you were away', 'Second while you were away', 'Said from the train']);
    expect(await priya.page.locator('.rich-text').allInnerTexts()).toEqual(said);
  });

  test('a service that goes away and comes back is caught up with', async () => {
    const proxy = await startProxy(service.url, 80);
    onTestFinished(() => proxy.close());
    const url = new URL('/demo/', proxy.url).href;
    const mateo = await stage.visit('mateo', { url });
    await mateo.openTask(task);
    mateo.expectTrouble(cutOff);

    proxy.cut();
    await mateo.page.getByText('The service cannot be reached').waitFor();
    await priya.say('While the line was cut');
    proxy.restore();
    await mateo.comment('While the line was cut').waitFor();
    await mateo.page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
    await mateo.say('Here again');
    await priya.comment('Here again').waitFor();
    expect(await mateo.comment('While the line was cut').count()).toBe(1);
  });
});

describe.skipIf(!hasBrowser)(`a session${unlessSkipped}`, () => {
  test('that is signed out in one tab ends in the other', async () => {
    const amara = await stage.visit('amara');
    const other = await amara.openTab();
    await other.getByRole('link', { name: task, exact: true }).click();
    await other.getByLabel('Write a comment').waitFor();
    await amara.button(/^Your account/).click();
    await amara.button('Sign out').click();
    await amara.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.getByText('You are signed out in all windows of this browser.').waitFor();
    expect(await storedKeys(amara.page)).not.toContain('work-management-demo');
  });

  test('that begins in one tab begins in the other', async () => {
    await service.signIn(emailOf.amara);
    const amara = await stage.arrive();
    const other = await amara.openTab();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await amara.signIn(emailOf.amara);
    await other.getByRole('heading', { name: 'Hello, Amara' }).waitFor();
    await other.getByRole('link', { name: task, exact: true }).waitFor();
  });

  test('that the service ends leads back to the sign-in, with a sentence', async () => {
    const jonas = await stage.visit('jonas');
    const admin = await service.signIn(emailOf.amara);
    const { body } = await admin.get(`/employees/search/${admin.companyId}/?q=jonas`);
    await admin.patch(`/api/employees/${body.employees[0]._id}/`, { is_active: false });
    jonas.expectTrouble(/status of 401/);
    await jonas.page.getByText('Your session has ended.').waitFor();
    await jonas.page.getByLabel('Password').waitFor();
    await admin.patch(`/api/employees/${body.employees[0]._id}/`, { is_active: true });
  });

  test('that has expired says so once', async () => {
    const { page, alert, expectTrouble } = await stage.visit('jonas');
    await page.evaluate(`(() => {
      const kept = JSON.parse(localStorage['work-management-demo']);
      localStorage['work-management-demo'] = JSON.stringify({ ...kept, accessToken: 'old', refreshToken: 'old' });
    })()`);
    expectTrouble(/status of 401|WebSocket/);
    await page.reload();
    await page.getByText('Your session has ended.').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await alert.allInnerTexts()).toEqual(['']);
  });
});
