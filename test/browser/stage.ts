import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, expect, vi } from 'vitest';
import { seedDemo } from '../../server/demo/demo.ts';
import type { DemoSignIn } from '../../server/demo/sign-in-file.ts';
import { startService, type Service } from '../support/service.ts';
import { hasBrowser, launchBrowser, openWindow, type Window } from './browser.ts';
import { textOf } from './in-page.ts';
import { createVisitor, type Visitor } from './visitor.ts';

export const emailOf = {
  amara: 'amara.okafor@demo.example',
  mateo: 'mateo.duarte@demo.example',
  priya: 'priya.raman@demo.example',
  fatima: 'fatima.elidrissi@demo.example',
  mei: 'mei-ling.chen@demo.example',
  jonas: 'jonas.lindqvist@demo.example',
};

type VisitOptions = BrowserContextOptions & {
  url?: string;
  /** Whether the window is open for all tests of the file, and not just for this one. */
  stays?: boolean;
};

/** The service with its demo company and its page, and a browser. */
export type Stage = {
  service: Service;
  demo: DemoSignIn;
  pageUrl: string;
  /** A window before the sign-in form. */
  arrive(options?: VisitOptions): Promise<Visitor>;
  /** A window of somebody of the demo company, signed in. */
  visit(person: keyof typeof emailOf, options?: VisitOptions): Promise<Visitor>;
};

/** Sets it up for this test file. Without a browser there is none, and nothing that asks for it may run. */
export async function setStage(): Promise<Stage> {
  if (!hasBrowser) return {} as Stage;
  // A page that never gets there fails by the locator that waits for it; a slow machine is no failure.
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
  const service = await startService({ isPublicHere: true, settings: { hasDemoPage: true } });
  const folder = mkdtempSync(join(tmpdir(), 'wms-browser-'));
  const file = join(folder, 'demo.json');
  await seedDemo(service.app.services, file);
  const demo = JSON.parse(readFileSync(file, 'utf8')) as DemoSignIn;
  rmSync(folder, { recursive: true });
  // Mails and notifications go out by themselves, as they do for people.
  service.app.worker.start();

  const browser = await launchBrowser();
  afterAll(() => browser.close());
  const staying: Window[] = [];
  const passing: Window[] = [];
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail')
      for (const { page } of [...staying, ...passing])
        process.stderr.write(`A window showed:\n${await textOf(page)}\n`);
    const closing = passing.splice(0);
    await Promise.all(closing.map((window) => window.close()));
    expect([...closing, ...staying].flatMap((window) => window.takeTroubles())).toEqual([]);
  });

  const pageUrl = `${service.url}/demo/`;
  async function arrive({ url = pageUrl, stays = false, ...options }: VisitOptions = {}): Promise<Visitor> {
    const window = await openWindow(browser, url, options);
    (stays ? staying : passing).push(window);
    return createVisitor(window);
  }
  return {
    service,
    demo,
    pageUrl,
    arrive,
    async visit(person, options) {
      await service.signIn(emailOf[person]);
      const visitor = await arrive(options);
      await visitor.signIn(emailOf[person]);
      return visitor;
    },
  };
}

/** Where pictures go: git ignores the folder unless another one is given. */
export function artifact(name: string): string {
  const folder = process.env['TEST_ARTIFACTS'] ?? join(import.meta.dirname, '../artifacts');
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
}
