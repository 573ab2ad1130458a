import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, isDark, isFocusCovered, overflow, untilPersonIsRead } from './in-page.ts';
import { artifact, emailOf, setStage } from './stage.ts';
import type { Visitor } from './visitor.ts';

const stage = await setStage();
/** Pictures of the documentation: `DEMO_PICTURES=docs/pictures npx vitest run test/browser/looks.slow.test.ts` makes them. */
const published: Record<string, string> = {
  'light task': 'demo-comments.png',
  'dark board': 'demo-board-dark.png',
  'light week': 'demo-week.png',
  'light person': 'demo-person.png',
  'phone hours': 'demo-hours-phone.png',
  'phone add time': 'demo-time-phone.png',
};

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: artifact(`${name}.png`) });
  const folder = process.env['DEMO_PICTURES'];
  if (folder !== undefined && published[name] !== undefined)
    copyFileSync(artifact(`${name}.png`), join(folder, published[name]));
}

/** Goes through every view, and looks at each. */
async function tour(visitor: Visitor, look: (view: string) => Promise<void>): Promise<void> {
  const { page, button, bell, comment } = visitor;
  await look('sign-in');
  await page.getByRole('link', { name: 'Forgotten your password?' }).click();
  await page.getByText('Give the address').waitFor();
  await look('forgotten');
  await page.goBack();
  await button('Mailed code').click();
  await page.getByLabel('E-mail address').fill(emailOf.fatima);
  await button('Send me a code').click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  await look('code');
  await page.reload();
  await visitor.signIn(emailOf.amara);
  await page.getByRole('link', { name: 'Plan the next quarter' }).waitFor();
  await page.getByText('Hours this week').waitFor();
  await look('board');
  await page.getByRole('combobox', { name: 'Search' }).fill('ticket');
  await page.locator('.search-result').last().waitFor();
  await look('search');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await button('New task').click();
  await look('new task');
  await button('Close').click();
  await visitor.openTask('Ticket checkout with timed entry');
  await page.getByRole('region', { name: 'Logged time' }).waitFor();
  // It goes on through all tours that follow.
  if (await button('Start timer').isVisible()) await button('Start timer').click();
  await button(/^Stop timer/).waitFor();
  await look('task');
  await button('Edit').first().click();
  await page.getByLabel('Title').waitFor();
  await look('edit task');
  await button('Close').click();
  await page.getByRole('button', { name: 'Delete…' }).first().click();
  await page.getByText('cannot be found any more').waitFor();
  await look('question');
  await button('Close').click();
  await button('Add time').click();
  await page.getByRole('option', { name: 'Import the collection' }).waitFor({ state: 'attached' });
  await look('add time');
  visitor.expectTrouble(/status of 400/);
  await page.getByLabel('Start').fill('09:00');
  await page.getByLabel('End').fill('09:00');
  await button('Add the time').click();
  await page.getByText('The end must be after the start.').waitFor();
  await look('refused time');
  await button('Close').click();
  await comment('Thirty. The visitors').getByRole('button', { name: 'Reply' }).click();
  await page.getByLabel('Reply to Priya Raman').fill('@m');
  await page.getByRole('listbox').waitFor();
  await look('mention');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await bell.click();
  await page
    .getByRole('link', { name: /mentioned you/ })
    .first()
    .waitFor();
  await look('notifications');
  await page.keyboard.press('Escape');
  await button(/^Your account/).click();
  await look('account');
  await page.getByRole('link', { name: 'Notification preferences' }).click();
  await page.getByRole('checkbox', { name: 'Tasks, by mail' }).waitFor();
  await look('preferences');
  await page.getByRole('link', { name: 'API keys' }).click();
  await button('Make a key').click();
  await page.getByLabel('Name', { exact: true }).fill('Nightly import');
  await look('new key');
  await button('Make the key').click();
  await page.getByLabel('The key').waitFor();
  await look('keys');
  await page.getByRole('link', { name: 'Account', exact: true }).click();
  await page.getByText('This one').waitFor();
  await page.getByText('No other company has invited you.').waitFor();
  await look('settings');
  await page.getByRole('link', { name: 'Company', exact: true }).click();
  await page.getByText(/^6 of \d+ people/).waitFor();
  await page.getByText('All plans').click();
  await look('company');
  await page.getByRole('link', { name: 'Hours', exact: true }).click();
  await page.getByRole('img', { name: /^Hours by day/ }).waitFor();
  await look('hours');
  await page.getByText('Show as a table').click();
  await look('hours table');
  await page.getByRole('link', { name: 'Week', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'This week' }).waitFor();
  await page.getByRole('link', { name: 'The week before' }).click();
  await page.getByRole('heading', { level: 1, name: 'Last week' }).waitFor();
  await page.getByRole('row', { name: /^All days 3\d h/ }).waitFor();
  await button(/^Reject Fatima/).waitFor();
  await page.getByText('My entries').click();
  await page
    .getByRole('button', { name: /^Edit Fri/ })
    .first()
    .waitFor();
  await look('week entries');
  await page.getByText('My entries').click();
  await look('week');
  await page.getByText('By day of Fatima').click();
  await button(/^Reject Fatima/).click();
  await page.getByLabel('What is to be corrected').waitFor();
  await look('rejection');
  await button('Close').click();
  await page.getByRole('link', { name: 'People', exact: true }).click();
  await page.getByRole('link', { name: 'Mei-Ling Chen' }).waitFor();
  await look('people');
  await button('Invite somebody').click();
  await page.getByLabel('First name').waitFor();
  await look('invite');
  await button('Close').click();
  await page.getByRole('link', { name: 'Mateo Duarte' }).click();
  await untilPersonIsRead(page);
  await look('person');
}

describe.skipIf(!hasBrowser)(`every view${unlessSkipped}`, () => {
  test.each(['light', 'dark'] as const)('has no barriers that axe can find, in %s colours', async (colorScheme) => {
    await stage.service.signIn(emailOf.amara);
    const visitor = await stage.arrive({ colorScheme });
    // Only the colours differ.
    const rules = colorScheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined;
    const found: string[] = [];
    const seen: string[] = [];
    await tour(visitor, async (view) => {
      seen.push(view);
      found.push(...(await findBarriers(visitor.page, rules)).map((barrier) => `${view}: ${barrier}`));
      await picture(visitor.page, `${colorScheme} ${view}`);
    });
    expect(found).toEqual([]);
    expect(seen).toHaveLength(27);
  });

  test('fits a phone of 360 pixels, without scrolling sideways', async () => {
    await stage.service.signIn(emailOf.amara);
    const visitor = await stage.arrive({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
    });
    const wide: Record<string, number> = {};
    await tour(visitor, async (view) => {
      const over = await overflow(visitor.page);
      if (over > 0) wide[view] = over;
      await picture(visitor.page, `phone ${view}`);
    });
    expect(wide).toEqual({});
  });

  test.each([
    { width: 1280, height: 600 },
    { width: 800, height: 600 },
    { width: 320, height: 640 },
    { width: 320, height: 256 },
  ])('shows what the keyboard goes back to, in $width by $height pixels', async (viewport) => {
    const { page, button } = await stage.visit('priya', { viewport });
    await button(/^Start timer on/)
      .first()
      .click();
    await button('Stop the timer').waitFor();
    await button(/^Start timer on/)
      .last()
      .focus();
    const covered: string[] = [];
    let label = '';
    for (let presses = 0; presses < 80 && label !== 'Project'; presses += 1) {
      await page.keyboard.press('Shift+Tab');
      ({ label } = await focusedLabel(page));
      if (await isFocusCovered(page)) covered.push(label);
    }
    expect({ label, covered }).toEqual({ label: 'Project', covered: [] });
    await button('Stop the timer').click();
    await button('Stop the timer').waitFor({ state: 'detached' });
  });

  test('is dark where the system is, and as the user chooses', async () => {
    const { page, button } = await stage.arrive({ colorScheme: 'dark' });
    expect(await isDark(page)).toBe(true);
    await button(/^Colours: as the system/).click();
    await button(/^Colours: light/).waitFor();
    expect(await isDark(page)).toBe(false);
    await page.emulateMedia({ colorScheme: 'light' });
    await button(/^Colours: light/).click();
    expect(await isDark(page)).toBe(true);
    await page.reload();
    await button(/^Colours: dark/).waitFor();
    expect(await isDark(page)).toBe(true);
  });
});
