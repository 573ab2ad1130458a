import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { emailOf, setStage } from './stage.ts';

const stage = await setStage();
const { service } = stage;

const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const card = (page: Page, name: string, title: string) =>
  column(page, name).getByRole('listitem').filter({ hasText: title });
const countOf = async (page: Page, name: string) => Number(await column(page, name).locator('.count').innerText());

/** Counts how often a window reads lists of tasks, projects or its timer. */
function countReads(page: Page): () => number {
  let reads = 0;
  page.on('request', (request) => {
    if (request.method() === 'GET' && /\/trpc\/(tasks\.list|projects\.list|timers\.get)/.test(request.url()))
      reads += 1;
  });
  return () => reads;
}

describe.skipIf(!hasBrowser)(`two windows${unlessSkipped}`, () => {
  test('show the tasks of the board as they are made, changed and deleted, without reading them again', async () => {
    const amara = await stage.visit('amara');
    const mateo = await stage.visit('mateo');
    const caller = await service.signIn(emailOf.amara);
    for (const { page } of [amara, mateo]) await column(page, 'To do').locator('.count').waitFor();
    const waiting = await countOf(mateo.page, 'To do');
    const done = await countOf(mateo.page, 'Done');
    const reads = countReads(mateo.page);

    await amara.page.getByRole('button', { name: 'New task' }).click();
    await amara.page.getByLabel('Title').fill('Oil the bearings');
    await amara.button('Add the task').click();
    await card(amara.page, 'To do', 'Oil the bearings').waitFor();
    await card(mateo.page, 'To do', 'Oil the bearings').waitFor();
    expect(await countOf(mateo.page, 'To do')).toBe(waiting + 1);

    const { href } = await card(mateo.page, 'To do', 'Oil the bearings')
      .getByRole('link')
      .first()
      .evaluate((link) => ({ href: (link as unknown as { href: string }).href }));
    const taskId = Number(/\d+$/.exec(href)![0]);
    expect((await caller.patch(`/api/tasks/${taskId}/`, { status: 'done', title: 'Oil all bearings' })).status).toBe(
      200,
    );
    for (const { page } of [amara, mateo]) await card(page, 'Done', 'Oil all bearings').waitFor();
    expect(await card(mateo.page, 'To do', 'Oil the bearings').count()).toBe(0);
    expect([await countOf(mateo.page, 'To do'), await countOf(mateo.page, 'Done')]).toEqual([waiting, done + 1]);

    expect((await caller.delete(`/api/tasks/${taskId}/`)).status).toBe(200);
    for (const { page } of [amara, mateo]) await card(page, 'Done', 'Oil all bearings').waitFor({ state: 'detached' });
    expect(await countOf(mateo.page, 'Done')).toBe(done);
    expect(reads()).toBe(0);
    // The count would notice.
    await mateo.page.reload();
    await column(mateo.page, 'To do').locator('.count').waitFor();
    expect(reads()).toBeGreaterThan(4);
  });

  test('offer a new project at once, follow its tasks, and let it go when it is deleted', async () => {
    const { page } = await stage.visit('mateo');
    const caller = await service.signIn(emailOf.amara);
    await column(page, 'To do').locator('.count').waitFor();
    const { body: project } = await caller.post('/api/projects/', { name: 'Steam organ' });
    const choice = page.getByLabel('Project').getByRole('option', { name: 'Steam organ' });
    await choice.waitFor({ state: 'attached' });
    const { status } = await caller.post('/api/tasks/', { projectId: project._id, title: 'Tune the pipes' });
    expect(status).toBe(200);
    await card(page, 'To do', 'Tune the pipes').waitFor();
    await caller.delete(`/api/projects/${project._id}/`);
    await choice.waitFor({ state: 'detached' });
    await card(page, 'To do', 'Tune the pipes').waitFor({ state: 'detached' });
  });

  test('say that a project was deleted, without asking for its tasks, and lead back', async () => {
    const { page } = await stage.visit('mateo');
    const caller = await service.signIn(emailOf.amara);
    const { body: project } = await caller.post('/api/projects/', { name: 'Barrel organ' });
    const columns = { todo: 'To do', in_progress: 'In progress', in_review: 'In review', done: 'Done' };
    for (const status of Object.keys(columns))
      await caller.post('/api/tasks/', { projectId: project._id, title: `Pin the barrel ${status}`, status });
    await page.getByLabel('Project').selectOption({ label: 'Barrel organ' });
    // A column that is still being read would be refused, and until then it shows what it had.
    await page.reload();
    for (const [status, name] of Object.entries(columns)) await card(page, name, `Pin the barrel ${status}`).waitFor();
    await caller.delete(`/api/projects/${project._id}/`);
    await page.getByRole('heading', { name: 'This project is not there' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'This project is not there' }).waitFor();
    await page.getByRole('link', { name: 'Show all projects' }).click();
    await column(page, 'To do').locator('.count').waitFor();
  });

  test('of one person show one timer, wherever it is started and stopped', async () => {
    const desk = await stage.visit('jonas');
    const phone = await stage.visit('jonas');
    const timerOf = ({ page }: typeof desk) => page.getByRole('region', { name: 'Running timer' });
    await column(phone.page, 'To do').locator('.count').waitFor();
    const reads = countReads(phone.page);
    await column(desk.page, 'To do')
      .getByRole('button', { name: /^Start timer on / })
      .first()
      .click();
    await timerOf(desk).waitFor();
    await timerOf(phone).waitFor();
    expect(await timerOf(phone).getByRole('link').innerText()).not.toBe('');
    await timerOf(phone).getByRole('button', { name: 'Stop the timer' }).click();
    await timerOf(desk).waitFor({ state: 'detached' });
    await timerOf(phone).waitFor({ state: 'detached' });
    expect(reads()).toBe(0);
  });
});
