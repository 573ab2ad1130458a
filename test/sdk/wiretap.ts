import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Stands on the line between a client and the service: hears what is sent, and can lose what is answered. */
export type Wiretap = {
  url: string;
  /** Everything that clients have sent, byte for byte. */
  sent(): string;
  /** The request lines among it, such as `POST /trpc/tasks.create`. */
  requests(): string[];
  /** What was sent in a header, request by request. */
  headers(name: string): string[];
  /** The connection breaks at the first byte of each of the next answers: the service has done its work by then. */
  loseAnswers(count: number): void;
  /** The next answers never arrive, though their connections stay open. */
  holdAnswers(count: number): void;
  /** Breaks every connection. */
  cut(): void;
  /** From now on the line takes no WebSockets, as some proxies do. */
  refuseUpgrades(): void;
};

/** For the time of one test. */
export async function startWiretap(target: string): Promise<Wiretap> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let sent = '';
  let losing = 0;
  let holding = 0;
  let refusesUpgrades = false;
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port) });
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    near.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      sent += text;
      if (refusesUpgrades && /^upgrade: websocket\r$/im.test(text)) near.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      else far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (holding > 0) return void (holding -= 1);
      if (losing === 0) return void near.write(chunk);
      losing -= 1;
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    requests: () => [...sent.matchAll(/((?:GET|POST|PUT|PATCH|DELETE) \S+) HTTP\/1\.1\r\n/g)].map(([, line]) => line!),
    headers: (name) => [...sent.matchAll(new RegExp(`^${name}: (.*)\\r$`, 'gim'))].map(([, value]) => value!),
    loseAnswers: (count) => void (losing = count),
    holdAnswers: (count) => void (holding = count),
    cut() {
      for (const socket of open) socket.destroy();
    },
    refuseUpgrades: () => void (refusesUpgrades = true),
  };
}
