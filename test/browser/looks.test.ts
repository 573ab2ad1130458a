import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, isDark, overflow } from './in-page.ts';
import { artifact, emailOf, setStage } from './stage.ts';
import type { Visitor } from './visitor.ts';

const stage = await setStage();
/** Pictures of the documentation: `DEMO_PICTURES=docs/pictures npx vitest run test/browser/looks.test.ts` makes them. */
const published: Record<string, string> = {
  'light task': 'demo-comments.png',
  'dark board': 'demo-board-dark.png',
  'light week': 'demo-week.png',
  'phone hours': 'demo-hours-phone.png',
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
  await button('New task').click();
  await look('new task');
  await button('Close').click();
  await visitor.openTask('Ticket checkout with timed entry');
  await page.getByRole('region', { name: 'Logged time' }).waitFor();
  // It goes on through all tours that follow.
  if (await button('Start timer').isVisible()) await button('Start timer').click();
  await button(/^Stop timer/).waitFor();
  await look('task');
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
  await look('week');
  await page.getByText('By day of Fatima').click();
  await button(/^Reject Fatima/).click();
  await page.getByLabel('What is to be corrected').waitFor();
  await look('rejection');
}

describe.skipIf(!hasBrowser)(`every view${unlessSkipped}`, () => {
  test.each(['light', 'dark'] as const)('has no barriers that axe can find, in %s colours', async (colorScheme) => {
    await stage.service.signIn(emailOf.amara);
    const visitor = await stage.arrive({ colorScheme, reducedMotion: 'reduce' });
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
    expect(seen).toHaveLength(13);
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
