import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { haproxySettings } from '../../deploy/cluster/settings.ts';
import { findFreePort } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

/* HAProxy, told what deploy/cluster tells it, in front of two nodes that end in the middle of a write. */

const haproxy = '/usr/sbin/haproxy';

/** On a connection of its own: on one that was used before, HAProxy answers such a failure by closing it. */
async function call(url: string, method = 'GET', headers = {}): Promise<IncomingMessage> {
  const [answer] = (await once(request(url, { method, headers, agent: false }).end(), 'response')) as [IncomingMessage];
  return answer;
}
const statusOf = async (...given: Parameters<typeof call>) => (await call(...given)).resume().statusCode;

describe.skipIf(!existsSync(haproxy))('HAProxy', () => {
  const nodes: Server[] = [];
  let isReady = true;
  let taken: string[] = [];
  let folder: string;
  let balancer: ChildProcess;
  let url: string;

  const act: RequestListener = (request, response) => {
    if (request.url === '/readyz') response.writeHead(isReady ? 200 : 503).end();
    else {
      taken.push(`${request.method} ${request.url}`);
      request.socket.destroy();
    }
  };

  beforeAll(async () => {
    for (let count = 0; count < 2; count += 1) nodes.push(createServer(act).listen(0, '127.0.0.1'));
    await Promise.all(nodes.map((node) => once(node, 'listening')));
    const [http, postgres, standby] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const ports = nodes.map((node) => (node.address() as AddressInfo).port);
    folder = await mkdtemp(join(tmpdir(), 'wms-balancer-'));
    const file = join(folder, 'haproxy.cfg');
    await writeFile(
      file,
      haproxySettings({ http, postgres, standby, nodes: ports, servers: [], socket: join(folder, 'socket') }),
    );
    balancer = spawn(haproxy, ['-db', '-f', file], { stdio: 'ignore' });
    url = `http://127.0.0.1:${http}`;
  });
  beforeEach(async () => {
    isReady = true;
    await waitUntil(async () => (await statusOf(`${url}/readyz`).catch(() => 0)) === 200);
    taken = [];
  });
  afterAll(async () => {
    balancer.kill('SIGKILL');
    for (const node of nodes) node.close();
    await rm(folder, { recursive: true });
  });

  test('gives a read, and a write with an Idempotency-Key, to the next node', async () => {
    expect(await statusOf(`${url}/read`)).toBe(502);
    expect(taken.length).toBeGreaterThan(1);
    taken = [];
    expect(await statusOf(`${url}/write`, 'POST', { 'idempotency-key': 'one' })).toBe(502);
    expect(taken.length).toBeGreaterThan(1);
  });

  test('gives a write without a key to one node only, for it may have happened', async () => {
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE'];
    for (const method of methods) expect(await statusOf(`${url}/write`, method)).toBe(502);
    expect(taken).toEqual(methods.map((method) => `${method} /write`));
  });

  test('says when to try again, also where no node is ready', async () => {
    const gone = await call(`${url}/write`, 'POST');
    expect([gone.resume().statusCode, gone.headers['retry-after']]).toEqual([502, '1']);
    isReady = false;
    await waitUntil(async () => (await statusOf(`${url}/healthz`)) === 503);
    const { headers, statusCode } = (await call(`${url}/healthz`)).resume();
    expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
    expect(headers['content-type']).toBe('application/problem+json');
  });
});
