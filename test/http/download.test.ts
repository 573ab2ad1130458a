import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { sendDownload } from '../../server/surfaces/http/send-download.ts';
import { Download } from '../../server/kernel/wire/download.ts';

test('HEAD of a file has the headers of GET and makes no more than the first piece', async () => {
  let made = 0;
  let ended = 0;
  async function* pieces() {
    try {
      for (; made < 50;) {
        made += 1;
        yield `${made}\r\n`;
      }
    } finally {
      ended += 1;
    }
  }
  const app = fastify();
  onTestFinished(() => app.close());
  app.get('/file', (_request, reply) =>
    sendDownload(reply, new Download({ format: 'csv', filename: 'f.csv', body: pieces() })),
  );

  const head = await app.inject({ method: 'HEAD', url: '/file' });
  expect(head).toMatchObject({ statusCode: 200, body: '' });
  expect([made, ended]).toEqual([1, 1]);
  made = 0;
  const get = await app.inject('/file');
  expect(get.body.split('\r\n')).toHaveLength(51);
  for (const name of ['content-type', 'content-disposition']) expect(head.headers[name]).toBe(get.headers[name]);
});
