import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** Stands between the service and something that it depends on, to take that away and give it back. */
export type Proxy = {
  /** The given URL, by way of this proxy. */
  url: string;
  /** Breaks every connection and takes no new one. */
  cut(): void;
  /** Keeps every connection and passes nothing on. */
  freeze(): void;
  /** Keeps the present connections, passes nothing more on for them, and takes new ones: as after a silent failover. */
  forget(): void;
  restore(): void;
  /** Loses bytes of the next answer: so many, after so many that arrive. */
  lose(count: number, after: number): void;
  /** How many connections were ever asked for. */
  accepted(): number;
  close(): Promise<void>;
};

export async function startProxy(target: string, defaultPort: number): Promise<Proxy> {
  const url = new URL(target);
  const port = Number(url.port || defaultPort);
  const { hostname } = url;
  const open = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  let accepted = 0;
  let lost = { count: 0, after: 0 };

  /** Passes on what it is given, but for the bytes that are to be lost. */
  const losing = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const { count, after } = lost;
        lost = {
          count: Math.max(0, count - Math.max(0, chunk.length - after)),
          after: Math.max(0, after - chunk.length),
        };
        done(null, Buffer.concat([chunk.subarray(0, after), chunk.subarray(after + count)]));
      },
    });

  const server = createServer((near) => {
    accepted += 1;
    if (state === 'cut') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: hostname, port });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      if (from === far) from.pipe(losing()).pipe(to);
      else from.pipe(to);
      if (state === 'frozen') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);

  return {
    url: url.href,
    cut() {
      state = 'cut';
      for (const socket of open) socket.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const socket of open) socket.pause();
    },
    forget() {
      for (const socket of open) {
        socket.pause();
        forgotten.add(socket);
      }
    },
    restore() {
      state = 'open';
      for (const socket of open) if (!forgotten.has(socket)) socket.resume();
    },
    lose: (count, after) => void (lost = { count, after }),
    accepted: () => accepted,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
