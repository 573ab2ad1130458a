import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** Where browsers that these tests can drive are usually found. */
const places = [
  // Without the windows and menus that nobody looks at here; it takes half the time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const found = [process.env['TEST_CHROMIUM'] ?? '', ...places].find((path) => path !== '' && existsSync(path));
if (found === undefined && process.env['TEST_BROWSER'] === 'required')
  throw new Error(`No Chromium was found at ${places.join(', ')}: install it, or set TEST_CHROMIUM to where it is.`);

export const hasBrowser = found !== undefined;

/** Stands in the name of what is skipped without a browser. */
export const unlessSkipped = hasBrowser ? '' : ' (skipped: no Chromium here; set TEST_CHROMIUM to where it is)';

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: found!,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A window of somebody, and whatever a careful person would see in its console. */
export type Window = {
  page: Page;
  /** Another tab of the same browser profile. */
  openTab(): Promise<Page>;
  /** What went wrong and was not expected, since this was asked last. */
  takeTroubles(): string[];
  /** Until then this is no trouble. */
  expectTrouble(pattern: RegExp): void;
  close(): Promise<void>;
};

export async function openWindow(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    // Drawing what moves takes a fifth of the processor time of all tests in a browser; phone.slow.test.ts sees it.
    reducedMotion: 'reduce',
    ...options,
  });
  // Slow machines are no trouble; a page that never gets there is.
  context.setDefaultTimeout(15_000);
  const told: string[] = [];
  const expected: RegExp[] = [];
  const { host } = new URL(url);

  context.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') told.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => told.push(`error: ${error.message}`));
    page.on('request', (request) => {
      const target = new URL(request.url());
      if (target.host !== host) told.push(`request to another host: ${target.origin}`);
    });
  });
  const openTab = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  return {
    page: await openTab(),
    openTab,
    takeTroubles() {
      const patterns = expected.splice(0);
      return told.splice(0).filter((one) => !patterns.some((pattern) => pattern.test(one)));
    },
    expectTrouble: (pattern) => void expected.push(pattern),
    close: () => context.close(),
  };
}
