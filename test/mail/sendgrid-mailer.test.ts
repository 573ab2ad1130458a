import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MailNotTaken, type Mail, type Mailer } from '../../server/mail/mailer.ts';
import { createSendGridMailer, type SendGridOptions } from '../../server/mail/sendgrid-mailer.ts';
import { startSendGrid, type Behaviour, type SendGridServer } from '../support/sendgrid.ts';
import { waitUntil } from '../support/waiting.ts';

const apiKey = 'SG.the-key-of-a-test';
const code = '042917';
const token = 'Vn3_qSxxk2cE7tYb-J9hUw0aL5dRgPzM1oKiT4fQ8sA';
const mail: Mail = {
  to: "ada.o'hara+tag@example.com",
  subject: 'Your sign-in code',
  text: `Here is your code:\n\n${code}\n\nhttps://app.example.test/reset-password?token=${token}\n`,
  html: `<p>Here is your code:</p><p>${code}</p>`,
  template: 'login-code',
};
const options = { idempotencyKey: 'send-code 1' };

async function start(
  settings: Partial<SendGridOptions> = {},
): Promise<{ server: SendGridServer; mailer: Mailer; failure(): Promise<MailNotTaken> }> {
  const server = await startSendGrid(apiKey);
  onTestFinished(() => server.close());
  const mailer = createSendGridMailer({
    apiKey,
    from: 'no-reply@example.com',
    baseUrl: server.url,
    clock: { now: () => new Date('2026-11-21T12:00:00Z') },
    ...settings,
  });
  return { server, mailer, failure: () => failureOf(mailer) };
}

/** What a send that fails says; no secret is anywhere in it, nor is there more to it than an operator may see. */
async function failureOf(mailer: Mailer): Promise<MailNotTaken> {
  const error: unknown = await mailer.send(mail, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MailNotTaken);
  const everything = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error);
  for (const secret of [apiKey, code, token]) expect(everything).not.toContain(secret);
  return error as MailNotTaken;
}

describe('a message', () => {
  test('is sent once, in the form that SendGrid takes', async () => {
    const { server, mailer } = await start();
    await mailer.send(mail, options);
    expect(server.problems).toEqual([]);
    expect(server.taken).toEqual([{ ...mail, from: { email: 'no-reply@example.com' }, ...options }]);
  });

  test('comes from whom the setting names, with the name where it has one', async () => {
    const { server, mailer } = await start({ from: 'Work Management <no-reply@example.com>' });
    await mailer.send(mail, options);
    expect(server.taken[0]?.from).toEqual({ name: 'Work Management', email: 'no-reply@example.com' });
  });

  test('goes to an address below a path as well, as a gateway has it', async () => {
    const { server, failure } = await start();
    const { mailer } = await start({ baseUrl: `${server.url}/gateway` });
    expect((await failureOf(mailer)).message).toContain('Check SENDGRID_BASE_URL');
    expect(server.problems).toEqual(['not found: /gateway/v3/mail/send']);
    server.behave({ kind: 'refuse', status: 500 });
    await failure();
  });

  test('goes by the key and the address of its own mailer, whatever others there are', async () => {
    const [one, other] = [await start(), await start()];
    createSendGridMailer({
      apiKey: 'SG.other',
      from: 'a@example.com',
      baseUrl: other.server.url,
      clock: { now: Date.now as never },
    });
    await one.mailer.send(mail, options);
    expect([one.server.taken.length, other.server.countRequests()]).toEqual([1, 0]);
  });
});

const errorOf = (message: string, field: string | null = null) => ({ errors: [{ message, field, help: null }] });

describe('a refusal', () => {
  test.each<[what: string, behaviour: Omit<Behaviour & { kind: 'refuse' }, 'kind'>, said: RegExp, isRefused: boolean]>([
    [
      'of an address',
      { status: 400, body: errorOf('Does not contain a valid address.', 'personalizations.0.to.0.email') },
      /^SendGrid answered 400\. Check the address, and MAIL_FROM\. personalizations\.0\.to\.0\.email: Does not contain a valid/,
      true,
    ],
    [
      'of a sender that is set wrongly',
      { status: 400, body: errorOf('Does not contain a valid address.', 'from.email') },
      /^SendGrid answered 400\. Check the address, and MAIL_FROM\. from\.email: /,
      false,
    ],
    ['by a gateway that understands nothing', { status: 400, body: '<h1>Bad Request</h1>' }, /answered 400\./, false],
    ['of something too large', { status: 413 }, /^SendGrid answered 413\.$/, true],
    [
      'of the key',
      { status: 401, body: errorOf('grant is invalid') },
      /answered 401\. Check SENDGRID_API_KEY.*grant is invalid/,
      false,
    ],
    [
      'of the sender',
      { status: 403, body: errorOf('not a verified Sender', 'from') },
      /answered 403\. Check .*MAIL_FROM.*from: not a/,
      false,
    ],
    [
      'by something else at the address',
      { status: 404, body: '<h1>Not here</h1>' },
      /answered 404\. Check SENDGRID_BASE_URL\.$/,
      false,
    ],
    [
      'by a server that failed',
      { status: 500, body: errorOf('Internal') },
      /^SendGrid answered 500\. Internal$/,
      false,
    ],
    ['by a gateway in between', { status: 502, body: '<h1>Bad Gateway</h1>' }, /^SendGrid answered 502\.$/, false],
    [
      'for a while',
      { status: 429, body: errorOf('too many requests') },
      /^SendGrid answered 429\. too many requests$/,
      false,
    ],
    [
      'in a form of its own',
      { status: 500, body: { errors: [{ message: 7 }, {}], more: null } },
      /^SendGrid answered 500\./,
      false,
    ],
  ])('%s says what to do, and whether the message itself is meant', async (_, behaviour, said, isRefused) => {
    const { server, failure } = await start();
    server.behave({ kind: 'refuse', ...behaviour });
    const error = await failure();
    expect(error.message).toMatch(said);
    expect(error).toMatchObject({ isRefused, retryAfterMs: undefined });
    expect(server.countRequests()).toBe(1);
  });

  test.each<[what: string, status: number, headers: Record<string, string>, retryAfterMs: number | undefined]>([
    ['seconds', 429, { 'retry-after': '7' }, 7_000],
    ['a date', 429, { 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' }, 60_000],
    ['a date that has passed', 429, { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    ['the end of its period', 429, { 'x-ratelimit-reset': String(Date.parse('2026-11-21T12:00:30Z') / 1000) }, 30_000],
    ['seconds while it is away', 503, { 'retry-after': '120' }, 120_000],
    ['nothing', 429, {}, undefined],
    ['nonsense', 429, { 'retry-after': 'soon' }, undefined],
    ['more nonsense', 429, { 'x-ratelimit-reset': 'soon' }, undefined],
  ])('that asks for a wait by %s is heard', async (_, status, headers, retryAfterMs) => {
    const { server, failure } = await start();
    server.behave({ kind: 'refuse', status, headers });
    expect(await failure()).toMatchObject({ isRefused: false, retryAfterMs });
  });

  test('that quotes the key, the code or the link tells nobody of them', async () => {
    const { server, failure } = await start();
    const quote = `not taken: Authorization: Bearer ${apiKey}; text ${mail.text}${'.'.repeat(200)}${apiKey}`;
    server.behave({
      kind: 'refuse',
      status: 400,
      headers: { 'x-authorization': `Bearer ${apiKey}` },
      body: errorOf(quote),
    });
    expect((await failure()).message).toMatch(/not taken: Authorization/);
  });

  test('of a wrong key is what the server itself says', async () => {
    const { server } = await start();
    const { mailer } = await start({ baseUrl: server.url, apiKey: 'SG.a-wrong-key' });
    expect((await failureOf(mailer)).message).toMatch(/answered 401\. Check SENDGRID_API_KEY/);
    expect(server.taken).toEqual([]);
  });

  test('that leads elsewhere is not followed', async () => {
    const [one, other] = [await start(), await start()];
    one.server.behave({ kind: 'refuse', status: 307, headers: { location: `${other.server.url}/v3/mail/send` } });
    expect((await one.failure()).message).toBe('SendGrid answered 307. Check SENDGRID_BASE_URL.');
    expect(other.server.countRequests()).toBe(0);
  });
});

describe('a provider that gives no whole answer', () => {
  test.each<Behaviour['kind']>(['hang', 'drip'])(
    'is given up after the limit where it lets us wait (%s)',
    async (kind) => {
      const { server, failure } = await start({ timeoutMs: 300 });
      server.behave({ kind } as Behaviour);
      const error = await failure();
      expect(error.message).toBe('SendGrid did not answer within 0.3 seconds');
      expect(error.isRefused).toBe(false);
      // The connection goes as well: nothing is left waiting.
      await waitUntil(() => server.countOpen() === 0);
    },
  );

  test('is one that could not be reached where it breaks off before it says anything', async () => {
    const { server, failure } = await start();
    server.behave({ kind: 'drop' });
    expect((await failure()).message).toMatch(/^SendGrid could not be reached, or broke off \([A-Z_]+\)$/);
  });

  test('has said enough where it breaks off in the middle', async () => {
    const { server, mailer, failure } = await start();
    server.behave({ kind: 'drop', status: 500 });
    expect((await failure()).message).toBe('SendGrid answered 500.');
    server.behave({ kind: 'drop', status: 202 });
    await mailer.send(mail, options);
    expect(server.taken).toHaveLength(1);
  });

  test('is one that could not be reached where nobody listens', async () => {
    const { server, mailer } = await start();
    await server.close();
    expect((await failureOf(mailer)).message).toBe('SendGrid could not be reached, or broke off (ECONNREFUSED)');
  });

  test('is one that broke off where it answers more than anybody would', async () => {
    const { server, failure } = await start();
    server.behave({ kind: 'refuse', status: 500, body: 'x'.repeat(1_000_000) });
    expect((await failure()).message).toMatch(/broke off/);
  });
});
