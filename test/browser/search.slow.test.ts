import { describe, expect, test } from 'vitest';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();

const fieldOf = ({ page }: Visitor) => page.getByRole('combobox', { name: 'Search' });
const optionsOf = ({ page }: Visitor) => page.getByRole('listbox', { name: 'What is found' }).getByRole('option');
const chosenOf = ({ page }: Visitor) => page.locator('[role="option"][aria-selected="true"]');

describe.skipIf(!hasBrowser)(`the search of the page${unlessSkipped}`, () => {
  test('is reached by a key, chosen from by others, and leads to a task', async () => {
    const visitor = await stage.visit('amara');
    const { page } = visitor;
    await page.getByRole('link', { name: 'Plan the next quarter' }).waitFor();
    await page.keyboard.press('/');
    expect((await focusedLabel(page)).label).toBe('Search');
    await page.keyboard.type('ticket');
    await optionsOf(visitor).first().waitFor();
    const names = await optionsOf(visitor).allInnerTexts();
    expect(names.length).toBeGreaterThan(1);
    // What matches is marked.
    expect(
      new Set((await page.locator('.search-result mark').allInnerTexts()).map((text) => text.toLowerCase())),
    ).toEqual(new Set(['ticket']));
    const groups = await page.getByRole('listbox').getByRole('group').count();
    expect(groups).toBeGreaterThan(1);
    expect(await findBarriers(page)).toEqual([]);

    // The arrows go round, and what they are on is what a screen reader says.
    const field = fieldOf(visitor);
    const active = async () =>
      page.locator(`#${String(await field.getAttribute('aria-activedescendant'))}`).innerText();
    expect(await active()).toBe(names[0]);
    await page.keyboard.press('ArrowUp');
    await expect.poll(active).toBe(names.at(-1));
    await page.keyboard.press('ArrowDown');
    await expect.poll(active).toBe(names[0]);
    expect((await focusedLabel(page)).label).toBe('Search');

    await field.fill('ticket checkout');
    const task = page
      .getByRole('group', { name: 'Tasks' })
      .getByRole('option', { name: /^Ticket checkout with timed entry/ });
    await task.waitFor();
    for (let presses = 0; (await task.getAttribute('aria-selected')) !== 'true'; presses += 1) {
      expect(presses).toBeLessThan(12);
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Ticket checkout with timed entry' }).waitFor();
    expect(await optionsOf(visitor).count()).toBe(0);
    expect(await field.inputValue()).toBe('');
  });

  test('is closed by Escape and emptied by another, and a slash in a text is a slash', async () => {
    const visitor = await stage.visit('amara');
    const { page, button } = visitor;
    const field = fieldOf(visitor);
    await field.fill('ticket');
    await optionsOf(visitor).first().waitFor();
    expect(await field.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Escape');
    await waitForCount(page, optionsOf(visitor), 0);
    expect([await field.inputValue(), await field.getAttribute('aria-expanded')]).toEqual(['ticket', 'false']);
    await page.keyboard.press('Escape');
    await expect.poll(() => field.inputValue()).toBe('');
    await field.pressSequentially('a/b xyzzy');
    await page.getByText('Nothing is found for “a/b xyzzy”.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await page.getByText('Nothing is found for').waitFor({ state: 'detached' });

    await button('New task').click();
    await page.getByRole('dialog').getByLabel('Title').fill('and');
    await page.keyboard.press('/');
    expect(await page.getByRole('dialog').getByLabel('Title').inputValue()).toBe('and/');
    await button('Close').focus();
    await page.keyboard.press('/');
    expect((await focusedLabel(page)).label).toBe('Close');
  });

  test('shows what people wrote as text, and leads to projects, people and comments by a click', async () => {
    const amara = await stage.service.signIn(emailOf.amara);
    const { body: project } = await amara.post('/api/projects/', { name: 'Sprocket <i>works</i>' });
    const { body: task } = await amara.post('/api/tasks/', { projectId: project._id, title: 'Polish it' });
    await amara.post('/api/task-chats/', { taskId: task._id, sender: amara.employeeId, message: 'a sprocket is <b>b' });
    const visitor = await stage.visit('amara');
    const { page } = visitor;
    const field = fieldOf(visitor);
    await field.fill('sprocket');
    await optionsOf(visitor).getByText('Sprocket <i>works</i>').click();
    await page.waitForURL(`**/#/projects/${project._id}`);
    await field.fill('sprocket');
    await page.getByRole('group', { name: 'Comments' }).getByRole('option').click();
    await page.getByRole('heading', { level: 1, name: 'Polish it' }).waitFor();
    await visitor.comment('a sprocket is').waitFor();
    await field.fill('jonas');
    await page.getByRole('group', { name: 'People' }).getByRole('option').first().click();
    await page.getByRole('heading', { level: 1, name: 'Jonas Lindqvist' }).waitFor();
    expect(await chosenOf(visitor).count()).toBe(0);
  });

  test('says why nothing is found where it is refused, and goes on', async () => {
    const visitor = await stage.visit('amara');
    const { page, button } = visitor;
    const error = { message: 'Not you.', code: -32_003, data: { code: 'FORBIDDEN', httpStatus: 403 } };
    await page.route('**/trpc/search.company*', (route) => route.fulfill({ status: 403, json: { error } }));
    visitor.expectTrouble(/status of 403/);
    await fieldOf(visitor).fill('ticket');
    await page.getByRole('search').getByRole('alert').waitFor();
    await page.unroute('**/trpc/search.company*');
    await button('Try again').click();
    await optionsOf(visitor).first().waitFor();
  });
});
