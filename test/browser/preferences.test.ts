import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { emailOf, setStage } from './stage.ts';

const stage = await setStage();
const { service } = stage;

describe.skipIf(!hasBrowser)(`notification preferences${unlessSkipped}`, () => {
  test('are reached from the end of a mail, and changed with the keyboard', async () => {
    const priya = await service.signIn(emailOf.priya);
    const path = `/api/notification-preferences/${priya.employeeId}/`;
    await priya.put(path, { task: { inApp: true, email: true } });
    const amara = await service.signIn(emailOf.amara);
    const { body: projects } = await amara.get(`/api/projects/company/${amara.companyId}/`);
    await amara.post('/api/tasks/', {
      projectId: projects.results[0]._id,
      title: 'Read the mail',
      owner_id: priya.employeeId,
    });
    await service.drain();
    const mail = service.mailbox.to(emailOf.priya).find(({ template }) => template === 'notification')!;
    const place = /\/notification-preferences$/m.exec(mail.text)![0];

    const { page, button } = await stage.visit('priya', { url: `${stage.pageUrl}#${place}` });
    const tasks = page.getByRole('checkbox', { name: 'Tasks, by mail' });
    await tasks.waitFor();
    expect([
      await tasks.isChecked(),
      await page.getByRole('checkbox', { name: 'Notices, by mail' }).isChecked(),
    ]).toEqual([true, false]);
    await tasks.focus();
    await page.keyboard.press('Space');
    await page.getByText('Saved').waitFor({ state: 'attached' });
    expect((await priya.get(path)).body.task).toEqual({ inApp: true, email: false });
    await page.reload();
    await tasks.waitFor();
    expect(await tasks.isChecked()).toBe(false);

    await page.goto(`${stage.pageUrl}#/tasks`);
    await button(/^Your account/).click();
    await page.getByRole('link', { name: 'Notification preferences' }).click();
    await page.getByRole('heading', { level: 1, name: 'Notification preferences' }).waitFor();
  });
});
