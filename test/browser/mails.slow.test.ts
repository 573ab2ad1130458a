import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mail } from '../../server/mail/mailer.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { hasBrowser, launchBrowser, openWindow, unlessSkipped } from './browser.ts';
import { findBarriers, overflow } from './in-page.ts';
import { artifact } from './stage.ts';

/* Mails as a program of today shows them, on a phone and at a desk. Their words are checked in test/mail. */

const service = await startService();
const browser = hasBrowser ? await launchBrowser() : undefined;
afterAll(() => browser?.close());

const unbroken = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

describe.runIf(hasBrowser)(`mails${unlessSkipped}`, { timeout: 120_000 }, () => {
  let mails: Mail[];

  beforeAll(async () => {
    const ada = await service.registerCompany({ name: unbroken });
    const grace = await service.addEmployee(ada, { first_name: 'Grace' });
    await service.anonymous.post('/verify-email/', { email: grace.email });
    await service.anonymous.post('/reset/link/', { email: grace.email });
    const { projectId, taskId } = await startWork(ada);
    await grace.put(`/api/notification-preferences/${grace.employeeId}/`, { task: { inApp: true, email: true } });
    await ada.post('/api/tasks/', { projectId, title: unbroken, owner_id: grace.employeeId });
    await grace.post('/api/task-chats/', {
      taskId,
      sender: grace.employeeId,
      message: `Have a look: ${unbroken}${unbroken}`,
      mentionedEmails: [ada.email],
    });
    await service.drain();
    mails = [...new Map(service.mailbox.mails.map((mail) => [mail.template, mail])).values()];
  });

  test.each([
    ['light', 320],
    ['light', 640],
    ['dark', 360],
  ] as const)('can be read in %s colours at %d pixels, and fit', async (colorScheme, width) => {
    const window = await openWindow(browser!, 'about:blank', { colorScheme, viewport: { width, height: 640 } });
    expect(mails.length).toBeGreaterThan(3);
    const found: string[] = [];
    for (const { template, html } of mails) {
      await window.page.setContent(html);
      await window.page.screenshot({ path: artifact(`mail ${template} ${colorScheme} ${width}.png`) });
      if ((await overflow(window.page)) > 0) found.push(`${template} is too wide`);
      found.push(
        ...(await findBarriers(window.page, ['wcag2a', 'wcag2aa'])).map((barrier) => `${template}: ${barrier}`),
      );
    }
    expect(found).toEqual([]);
    expect(window.takeTroubles()).toEqual([]);
    await window.close();
  });
});
