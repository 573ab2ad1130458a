import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { headersOf } from '../support/actor.ts';

const service = await startService({ settings: { trustProxy: ['127.0.0.1'] } });
const admin = await service.registerCompany();
const { hostname, port } = new URL(service.url);

/** What a caller, or a proxy that passes everything on, may claim about where this service is. */
const claims: Record<string, { headers: Record<string, string>; path?: (path: string) => string }> = {
  Host: { headers: { host: 'evil.example' } },
  'Host with a port': { headers: { host: 'evil.example:8443' } },
  'Host with a user': { headers: { host: 'api.example.test@evil.example' } },
  'X-Forwarded-Host': { headers: { 'x-forwarded-host': 'evil.example' } },
  'X-Forwarded-Host, twice': { headers: { 'x-forwarded-host': 'api.example.test, evil.example' } },
  'X-Forwarded-Proto and -Port': {
    headers: { 'x-forwarded-proto': 'https', 'x-forwarded-port': '666', 'x-forwarded-host': 'evil.example' },
  },
  'X-Forwarded-Server': { headers: { 'x-forwarded-server': 'evil.example' } },
  'X-Forwarded-Prefix': { headers: { 'x-forwarded-prefix': '//evil.example' } },
  Forwarded: { headers: { forwarded: 'for=1.2.3.4;host=evil.example;proto=https' } },
  'X-Original-Host and -URL': {
    headers: { 'x-original-host': 'evil.example', 'x-original-url': 'https://evil.example/' },
  },
  'X-Host and X-HTTP-Host-Override': { headers: { 'x-host': 'evil.example', 'x-http-host-override': 'evil.example' } },
  'Origin and Referer': { headers: { origin: 'https://evil.example', referer: 'https://evil.example/reset' } },
  'an absolute request target': { headers: { host: 'evil.example' }, path: (path) => `http://evil.example${path}` },
};

function post(path: string, body: object, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode!)));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

describe('no mail names a host that a request claims', () => {
  const credentials = headersOf(admin.pair);
  let people = 0;

  test.each(Object.entries(claims))('%s', async (_name, { headers, path = (same) => same }) => {
    people += 1;
    const email = `invited-${people}@example.com`;
    const employee = { first_name: 'Grace', last_name: 'Hopper', email, companyId: admin.companyId };
    expect(await post(path('/employee/add/'), employee, { ...headers, ...credentials })).toBe(200);
    for (const open of ['/reset/link/', '/verify-email/', '/get-register-otp/']) {
      expect(await post(path(open), { email }, headers)).toBe(200);
    }
    await service.drain();
    const mails = service.mailbox.to(email);
    expect(mails.map((mail) => mail.template).toSorted()).toEqual([
      'invitation',
      'login-code',
      'password-reset',
      'registration-code',
    ]);
    for (const mail of mails) expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/evil/);
    const hosts = mails.flatMap((mail) =>
      [...`${mail.text}${mail.html}`.matchAll(/https?:\/\/([^/\s"<]+)/g)].map((match) => match[1]),
    );
    expect(new Set(hosts)).toEqual(new Set(['app.example.test']));
  });
});
