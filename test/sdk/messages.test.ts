import { describe, expect, test } from 'vitest';
import { createClient } from 'work-management-client';
import { findFreePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { startAnswering } from './answering.ts';
import { connect, errorOf, sessionOf } from './clients.ts';

/* What somebody reads who has set up their client wrongly: what is wrong, and what to do next, in one sentence. */

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const company = { company_id: admin.companyId };
const quick = { retries: 0 };

function errorOfClient(options: object): string {
  try {
    createClient(options as Parameters<typeof createClient>[0]).close();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  throw new Error('the client was made');
}

describe('a client is not made', () => {
  test.each<[string | undefined, string]>([
    ['', 'The baseUrl is empty: give the address of the service, such as https://api.example.com.'],
    [undefined, 'The baseUrl is empty: give the address of the service, such as https://api.example.com.'],
    ['  ', 'The baseUrl is empty: give the address of the service, such as https://api.example.com.'],
    ...['localhost:3000', 'api.example.com', '/api', 'http://', 'http//x', 'ftp://api.example.com', 'ws://x'].map(
      (baseUrl): [string, string] => [
        baseUrl,
        `The baseUrl "${baseUrl}" is no address of a service: write it whole, such as https://api.example.com.`,
      ],
    ),
  ])('with %j as its baseUrl', (baseUrl, sentence) => {
    expect(errorOfClient({ baseUrl })).toBe(sentence);
  });

  test('with a password in its baseUrl, which is not repeated', () => {
    const said = errorOfClient({ baseUrl: 'https://ada:secret@api.example.com' });
    expect(said).toMatch(/^The baseUrl holds a name or a password/);
    expect(said).not.toContain('secret');
  });

  test.each(['', ' ', 'Bearer wms_secret', 'secret', 'wms_', 'wms_secret\n', 'wms_sécret'])(
    'with %j as its API key, which is not repeated',
    (apiKey) => {
      const said = errorOfClient({ baseUrl: url, apiKey });
      expect(said).toMatch(/^The apiKey .+: .+\.$/);
      expect(said).not.toContain('secret');
    },
  );
});

describe('a call says', () => {
  test('that its API key is refused', async () => {
    const client = connect(url, { apiKey: `wms_${'a'.repeat(43)}` });
    const error = await errorOf(client.tasks.list(company));
    expect(error).toMatchObject({ code: 'INVALID_TOKEN', status: 401, operation: 'tasks.list' });
    expect(error.requestId).toBeDefined();
    expect(error.message).toBe('The API key is refused: it is wrong, expired or revoked.');
    for (const events of ['sse', 'websocket'] as const) {
      const streaming = connect(url, { apiKey: `wms_${'a'.repeat(43)}`, events });
      expect(await errorOf(streaming.notifications.onMine().next())).toMatchObject({
        code: error.code,
        message: error.message,
      });
    }
  });

  test('that nobody is signed in', async () => {
    const sentence = 'Nobody is signed in: sign in first (client.auth.login), or create the client with an apiKey.';
    const client = connect(url);
    const error = await errorOf(client.tasks.list(company));
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, message: sentence });
    for (const events of ['sse', 'websocket'] as const) {
      const stream = connect(url, { events }).notifications.onMine();
      expect((await errorOf(stream.next())).message).toBe(sentence);
    }
    const signedIn = connect(url, { session: sessionOf((await service.signIn(admin.email)).pair) });
    await signedIn.auth.logout();
    expect((await errorOf(signedIn.tasks.list(company))).message).toBe(sentence);
  });

  test('that nothing answers, where, and why', async () => {
    const away = `http://127.0.0.1:${await findFreePort()}`;
    const error = await errorOf(connect(away, quick).tasks.list(company));
    expect(error).toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
    expect(error.message).toBe(
      `No answer from ${away} (ECONNREFUSED): check that the service runs there, the baseUrl and the network.`,
    );
  });

  test('that what answers is not the service', async () => {
    const html = await startAnswering((response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>hello</html>'),
    );
    const lost = await startAnswering((response) => response.writeHead(404, { 'content-type': 'text/html' }).end('?'));
    const json = await startAnswering((response) => void response.end('{"status":"ok"}'));
    for (const [other, what] of [
      [html, '200, text/html'],
      [lost, '404, text/html'],
      [json, '200'],
    ] as const) {
      const client = connect(other.url, quick);
      const file = async () => client.timesheets.csv({ ...company, from: '2026-03-01', to: '2026-03-31' });
      for (const error of [await errorOf(client.tasks.list(company)), await errorOf(file())]) {
        expect(error.code).toBe('UNEXPECTED_ANSWER');
        expect(error.message).toBe(
          `What answers at ${other.url} (${what}) is not the service: check the baseUrl, its port, and any proxy between.`,
        );
      }
    }
  });

  test('all else in the words of the service', async () => {
    const client = connect(url, { session: sessionOf(admin.pair) });
    const error = await errorOf(client.tasks.get({ task_id: 999_999 }));
    const { body } = await admin.get('/api/tasks/999999/');
    expect(error.message).toBe(body.detail);
  });
});
