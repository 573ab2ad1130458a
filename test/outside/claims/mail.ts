import { describe, expect, test } from 'vitest';
import { got } from '../caller.ts';
import { service } from '../running.ts';
import { waitFor } from '../../support/waiting.ts';

/*
 * Contract 7: e-mail, where no provider is set up.
 *
 * Not to be seen from outside: the outbox in the transaction of its cause, retries with backoff, parking
 * (test/jobs/retry.test.ts, test/jobs/worker-retries.test.ts, test/faults/mail-provider-down.test.ts), and SendGrid
 * (test/mail/sendgrid-mailer.test.ts).
 */

const { mails } = service;
const admin = await service.register();
const member = await service.join(admin);
await service.setPassword(member.email);

describe('contract 7, the mail file', () => {
  test('has one JSON line for each message: to, subject, text, html, template, at', () => {
    const all = mails.all();
    expect(all.length).toBeGreaterThan(3);
    for (const mail of all) {
      expect(Object.keys(mail)).toEqual(['to', 'subject', 'text', 'html', 'template', 'at']);
      expect(mail.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(mail.subject).not.toMatch(/[\r\n]/);
      expect(mail.html).toMatch(/^<!doctype html>/i);
    }
  });

  test('is named in the log', async () => {
    await waitFor(() => expect(service.process.stdout()).toMatch(/"file":"[^"]*mail\.jsonl".*"msg":"mail written/));
  });

  test('gets a message for each of these causes', () => {
    const templates = new Set(mails.all().map(({ template }) => template));
    for (const template of ['registration-code', 'login-code', 'password-reset', 'invitation', 'account-notice'])
      expect([...templates]).toContain(template);
  });

  test('shows what people wrote as text in HTML', async () => {
    const boss = await service.register({ company_name: 'Gears & <b>Sons</b>' });
    const email = service.newEmail();
    const mail = await mails.causedBy(
      () => service.invite(boss, { email, first_name: '<i>Eve</i>' }),
      email,
      'invitation',
    );
    expect(mail.subject).toContain('Gears & <b>Sons</b>');
    expect(mail.html).toContain('Gears &amp; &lt;b&gt;Sons&lt;/b&gt;');
    expect(mail.html).not.toMatch(/<b>Sons|<i>Eve/);
  });

  test('goes to the address given, by its own operation', async () => {
    const email = service.newEmail();
    const code = await service.codeFor(email, '/get-register-otp/');
    expect(code).toMatch(/^\d{6}$/);
    expect(
      mails
        .all()
        .filter(({ to }) => to === email)
        .map(({ template }) => template),
    ).toEqual(['registration-code']);
    expect(got(await admin.get(`/employee/me/${admin._id}/`)).email).toBe(admin.email);
  });
});
