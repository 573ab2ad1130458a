import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderMail } from '../../server/mail/mail-template.ts';
import type { Mail } from '../../server/mail/mailer.ts';
import { startReceiver } from '../support/receiver.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';

const service = await startService({ settings: { webhookNetworks: ['127.0.0.1'] } });
const { mailbox, anonymous, clock } = service;

/** Words that would go wrong in HTML, in a header, or at the end of what is cut off. */
const company = `<b>Engines</b> & "Söhne" O'Hara 🦉`;
const dayMs = 24 * 3_600_000;

beforeAll(async () => {
  const ada = await service.registerCompany({ name: company, email: 'ada@example.com' });
  const grace = await service.addEmployee(ada, { first_name: '<Grace>', email: 'grace@example.com' });
  const invited = { first_name: '<Grace>', last_name: 'Hopper', email: 'invited@example.com' };
  await ada.post('/employee/add/', { ...invited, companyId: ada.companyId });
  await ada.post('/api/api-keys/', { name: 'Nightly <import>', scopes: ['read'] });
  await anonymous.post('/verify-email/', { email: grace.email });
  await anonymous.post('/reset/link/', { email: grace.email });
  const { projectId } = await startWork(ada);
  const task = await ada.post('/api/tasks/', { projectId, title: 'Weave\r\nBcc: everybody@example.com' });
  await grace.put(`/api/notification-preferences/${grace.employeeId}/`, { task: { inApp: true, email: true } });
  await ada.post('/api/tasks/', { projectId, title: '<b>Oil</b> & "grease"', owner_id: grace.employeeId });
  const message = '<p>1 &lt; 2 &amp;amp; <b>so</b></p><p>a second line</p><p>&amp;lt;script&amp;gt;</p>';
  await grace.post('/api/task-chats/', {
    taskId: task.body._id,
    sender: grace.employeeId,
    message,
    mentionedEmails: [ada.email],
  });
  const receiver = await startReceiver((_, response) => void response.writeHead(410).end());
  const webhook = { url: receiver.url, events: ['task.created'], description: 'Chat <b>& "bells"' };
  const { body } = await ada.post('/api/webhooks/', webhook);
  await ada.post(`/api/webhooks/${body._id}/test/`);
  await service.app.webhookWorker.drain();
  await service.drain();
  await ada.post(`/api/company/${ada.companyId}/close/`, { name: company });
  await service.drain();
  const mary = await service.registerCompany({ name: company, email: 'mary@example.com' });
  const inDays = (days: number) =>
    `${new Date(clock.now().getTime() + days * dayMs).toISOString().slice(0, 10)}T12:00:00Z`;
  const expiresAt = inDays(30);
  await mary.post('/api/api-keys/', { name: 'Nightly <import>', scopes: ['read'], expiresAt });
  clock.advance({ ms: Date.parse(inDays(24)) - clock.now().getTime() });
  await service.app.mornings.run();
  await service.drain();
});

/** Every template that a feature writes. */
function listTemplates(): string[] {
  const root = fileURLToPath(new URL('../../server/features', import.meta.url));
  const sources = globSync('**/*.ts', { cwd: root }).map((path) => readFileSync(`${root}/${path}`, 'utf8'));
  return sources.flatMap((source) => [...source.matchAll(/\btemplate: '([\w-]+)'/g)].map((match) => match[1]!));
}

const mailOf = (template: string): Mail => mailbox.mails.find((mail) => mail.template === template)!;

const entities: Record<string, string> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** What a reader is told by the body, word by word; the mark is a picture made of a letter. */
function wordsOfHtml(html: string): string[] {
  const body = /<body[^>]*>([^]*)<\/body>/.exec(html)![1]!;
  const text = body
    .replaceAll(/<span aria-hidden="true"[^>]*>W<\/span>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&([\w#]+);/g, (_, name: string) => entities[name]!);
  return text.trim().split(/\s+/);
}

/** Tags that are open at the end; throws at one that is closed and was not open. */
function unclosedIn(html: string): string[] {
  const open: string[] = [];
  for (const [, closing, name] of html.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
    if (name === 'meta' || name === 'br') continue;
    if (closing === '') open.push(name!);
    else if (open.pop() !== name) throw new Error(`</${name}> closes what is not open`);
  }
  return open;
}

/** The text has a colon between a button's label and its address, which a button does not need. */
const wordsOfText = (text: string): string[] =>
  text
    .replaceAll(/:\n(?=https?:)/g, '\n')
    .trim()
    .split(/\s+/);

describe.each(listTemplates())('the mail %s', (template) => {
  test('says the same words in text and in HTML', () => {
    const { text, html } = mailOf(template);
    expect(wordsOfText(text).length).toBeGreaterThan(10);
    expect(wordsOfHtml(html)).toEqual(wordsOfText(text));
  });

  test('has a subject of one line, which is its title too', () => {
    const { subject, html } = mailOf(template);
    expect(subject).toMatch(/^\S[^\p{Cc}]{1,199}$/u);
    expect(/<title>([^<]*)<\/title>/.exec(html)![1]).not.toBe('');
  });

  test('stays a column of blocks, without tables, that say whom they are from', () => {
    const { text, html } = mailOf(template);
    expect(html).not.toMatch(/<(table|tr|td)\b/);
    expect(text).toMatch(/\n\nWork Management\n$/);
  });

  test('is whole HTML, light or dark, that loads nothing and runs nothing', () => {
    const { html } = mailOf(template);
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).not.toMatch(/<(script|img|link|iframe|form|b)\b|\bsrc=|url\(|@import|\son\w+=/i);
    expect(unclosedIn(html)).toEqual([]);
  });
});

test('names come through as they were given, in text and in HTML', () => {
  const { text, html, subject } = mailOf('invitation');
  expect(subject).toContain(company);
  expect(text).toContain(`Hello <Grace>,`);
  expect(html).toContain('Hello &lt;Grace&gt;,');
  expect(mailOf('mention').text).toContain('1 < 2 &amp; so\na second line\n&lt;script&gt;');
});

describe('words that a caller wrote', () => {
  /** What mail programs make links of. */
  const links = /https?:\/\/|www\.\p{L}|\/\/|\p{L}\.\p{L}{2,}/iu;
  const mailOf = (words: string) =>
    renderMail('ada@example.com', {
      subject: `${words} invited you`,
      template: 'a',
      paragraphs: [`Hello ${words},`],
      action: { label: 'Sign in', url: 'https://app.example.com/a' },
      footnote: `From ${words}`,
    });

  test.each(['http://evil.example/x', 'www.evil.example', 'evil.com', '(evil.com/win)', '//evil', 'x@evil.com/win'])(
    'make no link of %s, although they stood in the database before',
    (words) => {
      const { subject, text, html } = mailOf(words);
      const own = /https:\/\/app\.example\.com\/a/g;
      const body = /<body[^>]*>([^]*)<\/body>/.exec(html)![1]!.replaceAll(/<[^>]*>/g, ' ');
      for (const part of [subject, text.replaceAll(own, ''), body.replaceAll(own, '')]) expect(part).not.toMatch(links);
      // It still reads the same.
      expect(subject.replaceAll('\u200b', '')).toBe(`${words} invited you`);
      expect(html.match(/href="[^"]*"/g)).toEqual(['href="https://app.example.com/a"']);
    },
  );

  test.each(["St. John's", 'A/B Testing GmbH', 'at 09:00', 'ada@example.com', '<ada@example.com>,'])(
    'stay as they are in %s',
    (words) => {
      expect(mailOf(words).text).toContain(`Hello ${words},`);
    },
  );
});

describe('a subject', () => {
  const subjectOf = (subject: string) =>
    renderMail('ada@example.com', { subject, template: 'a', paragraphs: [], footnote: '' }).subject;

  test.each([
    ['a\r\nBcc: b@example.com', 'a Bcc: b@example.com'],
    ['\u2028a\u0000b\u0085c\u001b[31md\t e ', 'a b c [31md e'],
  ])('%j has one line', (given, expected) => {
    expect(subjectOf(given)).toBe(expected);
  });

  test('is cut between characters, and is text that can be sent', () => {
    const cut = subjectOf('🦉'.repeat(300));
    expect(cut).toBe('🦉'.repeat(200));
    expect(subjectOf('half \ud83e').isWellFormed()).toBe(true);
  });

  test('with half a character elsewhere leaves text and HTML that can be sent', () => {
    const { text, html } = renderMail('a@example.com', {
      subject: 'a',
      template: 'a',
      paragraphs: ['half \ud83e'],
      footnote: '',
    });
    expect([text.isWellFormed(), html.isWellFormed()]).toEqual([true, true]);
  });
});
