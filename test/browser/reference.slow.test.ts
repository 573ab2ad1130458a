import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../support/service.ts';
import { hasBrowser, launchBrowser, openWindow, unlessSkipped, type Window } from './browser.ts';
import { brokenCodes, findBarriers, focusedText, isDark, overflow } from './in-page.ts';

/* /docs as its readers have it: at a desk, on a phone, in the dark, by keyboard, and with no network but the service. */

const service = await startService();
const { body: document } = await service.anonymous.get('/openapi.json');
const browser = hasBrowser ? await launchBrowser() : undefined;
afterAll(() => browser?.close());

/** Opens a page and waits until it shows what it is for. */
async function open(path: string, shows: string, options?: BrowserContextOptions): Promise<Page> {
  const window = await openWindow(browser!, `${service.url}${path}`, options);
  onTestFinished(async () => {
    // Whatever its console tells, and requests to other hosts.
    const troubles = window.takeTroubles();
    await window.close();
    expect(troubles).toEqual([]);
  });
  window.page.setDefaultTimeout(60_000);
  await window.page.locator(shows).first().waitFor();
  return window.page;
}

const operation = '/docs#/Task%20logs/taskLogs.create';
const command: string = document.paths['/tasklog/create/'].post['x-codeSamples'][0].source;
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

describe.runIf(hasBrowser)(`the reference${unlessSkipped}`, { timeout: 120_000 }, () => {
  // It takes five seconds to open, and a reader opens it once.
  let desk: Window;
  beforeAll(async () => {
    desk = await openWindow(browser!, `${service.url}${operation}`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    desk.page.setDefaultTimeout(60_000);
    await desk.page.locator('.sample').first().waitFor();
  });
  afterAll(() => desk.close());

  test('lists every operation', async () => {
    const operations = Object.values(document.paths as object).flatMap((methods) => Object.keys(methods as object));
    expect(await desk.page.locator('.opblock').count()).toBe(operations.length);
  });

  test('shows an operation with its command, which can be copied, and leads to what its variables are', async () => {
    const { page } = desk;
    const sample = page.locator('.sample');
    expect(await sample.locator('pre').textContent()).toBe(command);
    await sample.getByRole('button', { name: 'Copy' }).click();
    await sample.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(command);
    await sample.getByRole('button', { name: 'What its variables are' }).click();
    expect(await focusedText(page)).toBe('Running the examples');
  });

  test('is used by keyboard: an operation is opened, tried out and its answer read', async () => {
    const { page } = desk;
    const block = page.locator('.opblock', { hasText: '/verify-email/' });
    for (const [role, name] of [
      ['button', /verify-email/],
      ['button', 'Try it out'],
      ['button', 'Execute'],
    ] as const) {
      await block.getByRole(role, { name }).first().focus();
      await page.keyboard.press('Enter');
    }
    const answer = block.locator('.live-responses-table');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').allTextContents()).toContain('200');
    expect(await answer.textContent()).toContain('"success": true');
  });

  test.each([
    [operation, '.sample'],
    ['/docs/guides', 'h1'],
    ['/docs/guides/csv-imports', 'td'],
    ['/docs/errors', 'h1'],
    ['/docs/errors/TOKEN_PAIR_REQUIRED', 'h1'],
  ])('fits a phone: %s', async (path, shows) => {
    expect(await overflow(await open(path, shows, phone))).toBeLessThanOrEqual(0);
  });

  test.each([320, 640, 768, 1280])('breaks no code inside a word, at %d pixels', async (width) => {
    for (const path of ['/docs/errors', '/docs/errors/IDEMPOTENCY_KEY_REUSED']) {
      const page = await open(path, 'h1', { viewport: { width, height: 740 } });
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await brokenCodes(page)).toEqual([]);
    }
  });

  test.each(['light', 'dark'] as const)('can be read where it is %s', async (colorScheme) => {
    await desk.page.emulateMedia({ colorScheme });
    const others = ['/docs/errors/NOT_FOUND', '/docs/guides/money'].map((path) => open(path, 'h1', { colorScheme }));
    for (const page of [desk.page, ...(await Promise.all(others))]) {
      expect(await isDark(page)).toBe(colorScheme === 'dark');
      expect(await findBarriers(page, ['color-contrast'])).toEqual([]);
    }
  });

  test('has told its console of no trouble in all that', () => {
    expect(desk.takeTroubles()).toEqual([]);
  });
});
