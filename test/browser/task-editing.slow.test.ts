import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, overflow } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { tabTo, waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

const amara = stage.service && (await service.signIn(emailOf.amara));
const idOf = (visitor: Visitor) => Number(/\/tasks\/(\d+)/.exec(visitor.page.url())![1]);
const read = async (taskId: number) => (await amara.get(`/api/tasks/${taskId}/`)).body;
const title = ({ page }: Visitor, name: string) => page.getByRole('heading', { level: 1, name });
const dialogOf = ({ page }: Visitor) => page.getByRole('dialog', { name: 'Edit the task' });

async function visitTask(person: keyof typeof emailOf, name: string): Promise<Visitor> {
  const visitor = await stage.visit(person);
  await visitor.openTask(name);
  return visitor;
}

describe.skipIf(!hasBrowser)(`a task${unlessSkipped}`, () => {
  test('is edited with the keyboard alone, and everybody who looks at it sees it at once', async () => {
    const jonas = await visitTask('jonas', 'Refunds for what sold out');
    const mei = await visitTask('mei', 'Refunds for what sold out');
    const { page } = mei;
    const { keyboard } = page;
    await tabTo(page, /^Edit$/);
    await keyboard.press('Enter');
    await dialogOf(mei).waitFor();
    await keyboard.press('ControlOrMeta+A');
    await keyboard.type('Refunds by hand');
    await tabTo(page, /^Description$/);
    await keyboard.type('First line\nSecond line');
    await tabTo(page, /^Estimate in hours$/);
    await keyboard.press('ControlOrMeta+A');
    await keyboard.type('12.5');
    await tabTo(page, /^Remove Amara Okafor$/);
    await keyboard.press('Enter');
    expect((await focusedLabel(page)).label).toBe('With');
    await page.getByLabel('With').selectOption('Fatima El Idrissi');
    await page.getByLabel('Owner').selectOption('Priya Raman');
    await page.getByLabel('Due').fill('2027-02-03');
    expect(await findBarriers(page)).toEqual([]);
    await tabTo(page, /^Save$/);
    await keyboard.press('Enter');
    await dialogOf(mei).waitFor({ state: 'detached' });
    expect(await focusedText(page)).toBe('Edit');
    await title(jonas, 'Refunds by hand').waitFor();
    await jonas.page.getByText('Wed 3 Feb').waitFor();
    await jonas.page.getByText('Second line').waitFor();
    expect(await read(idOf(mei))).toMatchObject({
      title: 'Refunds by hand',
      description: 'First line\nSecond line',
      estimatedHours: 12.5,
      dueDate: '2027-02-03',
      collaborators: [{ name: 'Fatima El Idrissi' }],
    });
    // She has handed it over, so it is not hers to delete any more.
    await mei.button('Delete…').waitFor({ state: 'detached' });
    await mei.button('Edit').click();
    await page.getByText('team leaders and admins hand it over').waitFor();
    expect(await page.getByLabel('Owner').isDisabled()).toBe(true);
  });

  test('that two edit at once keeps what both have changed, and asks where it is the same', async () => {
    const mateo = await visitTask('mateo', 'Plan the next quarter');
    const { page, button } = mateo;
    const taskId = idOf(mateo);
    await button('Edit').click();
    await page.getByLabel('Title').fill('Plan all of next year');
    await page.getByLabel('Due').fill('2027-01-15');
    await amara.patch(`/api/tasks/${taskId}/`, { title: 'Plan the spring', estimatedHours: 8 });
    await button('Save').click();
    await page.getByText('Somebody has changed this in the meantime, to “Plan the spring”').waitFor();
    expect((await focusedLabel(page)).label).toBe('Title');
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.getByLabel('Estimate in hours').inputValue()).toBe('8');
    expect(await read(taskId)).toMatchObject({ title: 'Plan the spring' });
    await button('Save').click();
    await title(mateo, 'Plan all of next year').waitFor();
    expect(await read(taskId)).toMatchObject({
      title: 'Plan all of next year',
      dueDate: '2027-01-15',
      estimatedHours: 8,
    });
  });

  test('is deleted after a question, by those who may; others who look at it are told', async () => {
    const jonas = await visitTask('jonas', 'Interview twelve visitors');
    await waitForCount(jonas.page, jonas.button('Delete…'), 0);
    const fatima = await visitTask('fatima', 'Interview twelve visitors');
    const { page, button } = fatima;
    const taskId = idOf(fatima);
    await button('Delete…').click();
    await page.getByRole('dialog', { name: 'Delete this task?' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await focusedText(page)).toBe('Delete…');
    expect((await read(taskId))._id).toBe(taskId);
    await button('Delete…').click();
    jonas.expectTrouble(/status of 404/);
    fatima.expectTrouble(/status of 404/);
    await button('Delete the task').click();
    await page.getByRole('heading', { level: 1, name: /^Hello/ }).waitFor();
    await title(jonas, 'This task is not there').waitFor();
    expect((await amara.get(`/api/tasks/${taskId}/`)).status).toBe(404);
  });

  test('takes words longer than a phone is wide', async () => {
    const phone = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };
    const visitor = await stage.visit('priya', phone);
    const { page, button } = visitor;
    await visitor.openTask('Switch languages without losing the page');
    await button('Edit').tap();
    await page.getByLabel('Title').fill('Donaudampfschifffahrtsgesellschaft'.repeat(6));
    await page.getByLabel('Description').fill(`https://example.com/${'a'.repeat(300)}`);
    expect(await overflow(page)).toBe(0);
    await button('Save').tap();
    await dialogOf(visitor).waitFor({ state: 'detached' });
    expect(await overflow(page)).toBe(0);
  });
});
