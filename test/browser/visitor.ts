import type { Locator, Page } from 'playwright-core';
import { password } from '../support/service.ts';
import type { Window } from './browser.ts';
import { focusedLabel } from './in-page.ts';

/** Somebody before the demo page. What they do and see is said in words of the page, as a person would find it. */
export type Visitor = Window & {
  signIn(email: string, secret?: string): Promise<void>;
  goHome(): Promise<void>;
  openTask(title: string): Promise<void>;
  /** Writes a comment in the box at the end of the comments. */
  say(text: string): Promise<void>;
  /** Writes in the box at the end of the comments and leaves it there. */
  draft(text: string): Promise<Locator>;
  reply(to: string, text: string): Promise<void>;
  /** The one comment with these words. */
  comment(text: string): Locator;
  bell: Locator;
  button(name: string | RegExp): Locator;
  alert: Locator;
};

export function createVisitor(window: Window): Visitor {
  const { page } = window;
  const button = (name: string | RegExp): Locator =>
    page.getByRole('button', { name, exact: typeof name === 'string' });
  const comment = (text: string): Locator =>
    page.locator('article.comment').filter({ has: page.locator('.rich-text').getByText(text) });

  async function draft(text: string): Promise<Locator> {
    const box = page.getByLabel('Write a comment');
    await box.fill(text);
    return box;
  }

  return {
    ...window,
    button,
    comment,
    draft,
    bell: button(/^Notifications/),
    alert: page.getByRole('alert'),
    async signIn(email, secret = password) {
      // The form of a forgotten password has an address as well, and what is typed into it is gone with it.
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(secret);
      await page.locator('form').getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
    },
    async goHome() {
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Board' }).click();
      await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor();
    },
    async openTask(title) {
      await page.getByRole('main').getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.getByLabel('Write a comment').waitFor();
    },
    async say(text) {
      await draft(text);
      await button('Comment').click();
      await comment(text).waitFor();
    },
    async reply(to, text) {
      await comment(to).getByRole('button', { name: 'Reply' }).click();
      await page.getByLabel(/^Reply to /).fill(text);
      await page
        .locator('form', { has: page.getByLabel(/^Reply to /) })
        .getByRole('button', { name: 'Reply' })
        .click();
      await comment(text).waitFor();
    },
  };
}

/** Presses Tab until something of that name has the focus, and sees that it shows. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    const { label, outline } = await focusedLabel(page);
    if (!name.test(label)) continue;
    if (outline !== 'solid') throw new Error(`the focus on ${label} does not show`);
    return;
  }
  throw new Error(`nothing called ${name} was reached`);
}

/** Waits until a locator shows as many as that, and answers them. */
export async function waitForCount(page: Page, locator: Locator, count: number): Promise<void> {
  const end = Date.now() + 15_000;
  while ((await locator.count()) !== count) {
    if (Date.now() > end) throw new Error(`${await locator.count()} instead of ${count} of ${String(locator)}`);
    await page.waitForTimeout(50);
  }
}
