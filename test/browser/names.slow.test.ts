import { beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { startWork } from '../support/work.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { endsOf } from './in-page.ts';
import { setStage } from './stage.ts';
import { strangeNames } from './strange-names.ts';
import { waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

describe.skipIf(!hasBrowser)(`comments by people with all kinds of names${unlessSkipped}`, () => {
  let wanda: Actor;
  let taskId: number;

  async function say(message: string, mentionedEmails: string[] = []): Promise<number> {
    const input = { taskId, sender: wanda.employeeId, message, mentionedEmails };
    const { status, body } = await wanda.post('/api/task-chats/', input);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body._id;
  }

  async function enter(): Promise<Visitor> {
    await stage.service.signIn(wanda.email);
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#/tasks/${taskId}` });
    await visitor.signIn(wanda.email);
    return visitor;
  }

  beforeAll(async () => {
    wanda = await stage.service.registerCompany({ name: 'Every Name', firstName: 'Wanda' });
    ({ taskId } = await startWork(wanda));
    for (const [index, name] of strangeNames.entries()) {
      const email = `strange${index}@example.com`;
      const person = { first_name: 'Somebody', last_name: `Strange${index}`, email, companyId: wanda.companyId };
      const added = await wanda.post('/employee/add/', person);
      const named = await wanda.patch(`/api/employees/${added.body._id}/`, { name });
      if (named.status !== 200) throw new Error(`${name}: ${JSON.stringify(named.body)}`);
      await say(`<p>Here @${escapeHtml(name)}, there @${email}.</p>`, [email]);
    }
  });

  test('shows every comment, with each mention as the name of whom it means', async () => {
    const { page } = await enter();
    await waitForCount(page, page.locator('.rich-text'), strangeNames.length);
    const shown = await page.locator('.rich-text').all();
    for (const [index, name] of strangeNames.entries()) {
      expect(await shown[index]!.innerText()).toBe(`Here @${name}, there @${name}.`);
      expect(await shown[index]!.locator('.mention').allInnerTexts()).toEqual([`@${name}`, `@${name}`]);
    }
  });

  test('takes a mention from the list and tells that person alone', async () => {
    const { page, draft, button, comment } = await enter();
    const box = await draft('');
    await box.pressSequentially('Off you go, @anne-m');
    await page.getByRole('option', { name: /Anne-Marie Dupont/, selected: true }).waitFor();
    await box.press('Enter');
    await box.pressSequentially('and @ann lee');
    await page.getByRole('option', { name: 'Ann Leeds' }).click();
    await button('Comment').click();
    await comment('Off you go').getByText('@Anne-Marie Dupont').waitFor();
    const { body } = await wanda.get(`/api/tasks/chat/${taskId}/`);
    expect(body.comments.at(-1).mentions.map(({ name }: { name: string }) => name)).toEqual([
      'Anne-Marie Dupont',
      'Ann Leeds',
    ]);
  });

  test('ends at the left where it is written from the right, as do titles and comments', async () => {
    const words = 'تصميم الصفحة!';
    await wanda.patch(`/api/tasks/${taskId}/`, { title: words });
    await wanda.patch(`/api/employees/${wanda.employeeId}/`, { name: words });
    await say(`<p>${words}</p>`);
    const { page, comment } = await enter();
    await comment(words).waitFor();
    for (const selector of ['h1', '.rich-text p', '.comment-author']) {
      const { first, last } = await endsOf(page, selector);
      expect(last).toBeLessThan(first);
    }
  });

  test('shows a line in the place of a comment that cannot be shown; the others and the replies to it stay', async () => {
    const broken = await say('<p>This one breaks</p>');
    await wanda.post('/api/task-chats/', { taskId, sender: wanda.employeeId, message: 'Its reply', reply_to: broken });
    await say('<p>The last word</p>');
    await stage.service.signIn(wanda.email);
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#/tasks/${taskId}` });
    visitor.expectTrouble(/properties of null/);
    // An answer as no service gives it: whatever the reason, the page must not go blank.
    await visitor.page.route('**/trpc/comments.listByTask*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { result: { data: { comments: { _id: number; seenBy: unknown }[] } } };
      const comment = body.result.data.comments.find((one) => one._id === broken)!;
      comment.seenBy = null;
      await route.fulfill({ response: answer, json: body });
    });
    await visitor.signIn(wanda.email);
    await visitor.comment('The last word').waitFor();
    await visitor.comment('Its reply').waitFor();
    await visitor.page.getByText('This comment cannot be shown here.').waitFor();
    expect(await visitor.comment('This one breaks').count()).toBe(0);
    await visitor.say('One can still write');
  });
});
