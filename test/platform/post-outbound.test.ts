import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createOutboundAddresses } from '../../server/platform/outbound-addresses.ts';
import { postOutbound } from '../../server/platform/post-outbound.ts';

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const start = async (answer: RequestListener, host?: string, port?: number) => listen(createServer(answer), host, port);

const post = (url: string, { addresses = ['127.0.0.1'], withinMs = 3_000 } = {}) =>
  postOutbound(new URL(url), addresses, { headers: {}, body: '{}', signal: AbortSignal.timeout(withinMs) });

test('answers the status, how the body begins and when to come again', async () => {
  const port = await start((request, response) => {
    request.resume().on('end', () => response.writeHead(503, { 'retry-after': '7' }).end(`no\0 ${request.method}`));
  });
  expect(await post(`http://hooks.example:${port}/`)).toEqual({
    status: 503,
    retryAfter: '7',
    text: 'no\u{fffd} POST',
  });
});

test('follows no redirect', async () => {
  let reached = 0;
  const inside = await start(() => (reached += 1));
  const port = await start((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${inside}/` }).end('elsewhere'),
  );
  expect(await post(`http://hooks.example:${port}/`)).toMatchObject({ status: 307, text: 'elsewhere' });
  expect(reached).toBe(0);
});

describe('a receiver', () => {
  test('that answers a gigabyte sends 1 KiB of it and what was on its way', async () => {
    let sent = 0;
    const flood = (response: ServerResponse): void => {
      const megabyte = Buffer.alloc(1 << 20, 'x');
      const more = () => {
        while (sent < 1 << 30 && !response.destroyed) {
          sent += megabyte.length;
          if (!response.write(megabyte)) return void response.once('drain', more);
        }
      };
      more();
    };
    const port = await start((_, response) => flood(response.writeHead(200)));
    expect((await post(`http://hooks.example:${port}/`)).text).toBe('x'.repeat(1024));
    expect(sent).toBeLessThan(64 << 20);
  });

  test.each<[string, RequestListener]>([
    ['takes the request and never answers', () => {}],
    [
      'answers its body byte by byte',
      async (_, response) => {
        response.writeHead(200);
        for (; !response.destroyed; await delay(20)) response.write('.');
      },
    ],
    [
      'answers its headers byte by byte',
      async ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nX-Long: ');
        for (; !socket.destroyed; await delay(20)) socket.write('.');
      },
    ],
    [
      'answers early hints for ever',
      async ({ socket }) => {
        for (; !socket.destroyed; await delay(5)) socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
      },
    ],
  ])('that %s is left when the time is over', async (_name, answer) => {
    const sockets = new Set<Socket>();
    const server = createServer(answer).on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    const port = await listen(server);
    const begun = performance.now();
    await expect(post(`http://hooks.example:${port}/`, { withinMs: 300 })).rejects.toThrow('aborted');
    expect(performance.now() - begun).toBeLessThan(5_000);
    await expect.poll(() => sockets.size).toBe(0);
  });
});

test('connects to the address that was checked, whatever the name leads to by then', async () => {
  let inside = 0;
  const received: (string | undefined)[] = [];
  const port = await start((request, response) => {
    received.push(request.headers.host);
    response.end();
  }, '127.0.0.2');
  await start((_, response) => (inside += 1) && response.end(), '127.0.0.1', port);
  // The name of an attacker: its first answer may be reached, all others are the machine itself.
  const answers = ['127.0.0.2'];
  const outbound = createOutboundAddresses({
    allowedNetworks: ['127.0.0.2'],
    resolveName: async () => [answers.shift() ?? '127.0.0.1'],
  });
  const url = `http://rebinding.example:${port}/`;
  await post(url, { addresses: await outbound.resolve(new URL(url)) });
  await expect(outbound.resolve(new URL(url))).rejects.toThrow('must lead to public addresses only');
  expect({ received, inside }).toEqual({ received: [`rebinding.example:${port}`], inside: 0 });
});

describe('over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  execFileSync(
    'openssl',
    `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hooks.example -addext subjectAltName=DNS:hooks.example
      -keyout ${key} -out ${cert}`.split(/\s+/),
    { stdio: 'ignore' },
  );
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, readFileSync(cert!, 'utf8')]);
  afterAll(() => {
    setDefaultCACertificates(before);
    rmSync(folder, { recursive: true });
  });

  test('names the host and requires its certificate, at an address without a name', async () => {
    const names: unknown[] = [];
    const server = createTlsServer({ key: readFileSync(key!), cert: readFileSync(cert!) }, (request, response) => {
      names.push([(request.socket as TLSSocket & { servername: unknown }).servername, request.headers.host]);
      response.end('yes');
    });
    const port = await listen(server);
    expect(await post(`https://hooks.example:${port}/`)).toMatchObject({ status: 200, text: 'yes' });
    expect(names).toEqual([['hooks.example', `hooks.example:${port}`]]);
    for (const other of ['other.example', '127.0.0.1'])
      await expect(post(`https://${other}:${port}/`)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(names).toHaveLength(1);
  });
});
