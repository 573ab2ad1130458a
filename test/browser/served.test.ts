import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const { anonymous, url } = await startService({
  settings: { hasDemoPage: true, publicUrl: 'https://work.example.test' },
});
const { anonymous: elsewhere } = await startService();

const page = await anonymous.get('/demo/');
const files = [...(page.body as string).matchAll(/(?:href|src)="\.\/([^"]+)"/g)].map(([, file]) => `/demo/${file}`);
const asset = files.find((file) => file.startsWith('/demo/assets/') && file.endsWith('.js'))!;

/** Sends a path as it is written: `fetch` tidies it up first. */
function rawStatus(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });
}

describe('the demo page', () => {
  test('is served with all that it loads, and nothing of it comes from elsewhere', async () => {
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.body).not.toMatch(/https?:|<style|<script[^>]*>[^<]/);
    const types = new Map<string, string | null>();
    for (const file of files) {
      const { status, headers, body } = await anonymous.get(file);
      expect([file, status]).toEqual([file, 200]);
      types.set(file.split('.').at(-1)!, headers.get('content-type'));
      if (!file.endsWith('.css')) continue;
      for (const [, font] of (body as string).matchAll(/url\(["']?([^"')]+)/g)) {
        const answer = await anonymous.get(new URL(font!, url + file).pathname);
        expect([font, answer.status, answer.headers.get('content-type')]).toEqual([font, 200, 'font/woff2']);
      }
    }
    expect(Object.fromEntries(types)).toEqual({
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
    });
  });

  test('may run and load its own files only, and be framed by nobody', () => {
    const policy = page.headers.get('content-security-policy')!.split(';');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self'");
    expect(policy).toContain("connect-src 'self' wss://work.example.test");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.join(';')).not.toMatch(/unsafe|\*|data:/);
  });

  test('is asked for again each time, its assets never', async () => {
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const known = { headers: { 'if-none-match': page.headers.get('etag')! } };
    expect((await anonymous.get('/demo/', known)).status).toBe(304);
    const { headers } = await anonymous.get(asset);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test('is found without the last slash, and takes no other method', async () => {
    const redirect = await anonymous.get('/demo');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, 'demo/']);
    for (const path of ['/demo/', asset]) {
      expect((await anonymous.send('HEAD', path)).status).toBe(200);
      const other = await anonymous.post(path, {});
      expect(errorOf(other)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      expect(other.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    }
  });

  test('has nothing else below it', async () => {
    for (const path of [
      '/demo/index.html',
      '/demo/assets/',
      '/demo/nope',
      '/demo/../package.json',
      '/demo/%2e%2e/vite.ts',
    ])
      expect([path, await rawStatus(path)]).toEqual([path, 404]);
  });

  test('is not there where the demo is off', async () => {
    for (const path of ['/demo', '/demo/', asset])
      expect(errorOf(await elsewhere.get(path))).toEqual({ status: 404, code: 'ROUTE_NOT_FOUND' });
  });
});
