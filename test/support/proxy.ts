import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between the service and something that it depends on, to take that away and give it back. */
export type Proxy = {
  /** The given URL, by way of this proxy. */
  url: string;
  /** Breaks every connection and takes no new one. */
  cut(): void;
  /** Keeps every connection and passes nothing on. */
  freeze(): void;
  restore(): void;
  /** How many connections were ever asked for. */
  accepted(): number;
  close(): Promise<void>;
};

export async function startProxy(target: string, defaultPort: number): Promise<Proxy> {
  const url = new URL(target);
  const port = Number(url.port || defaultPort);
  const { hostname } = url;
  const open = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  let accepted = 0;

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
      from.pipe(to);
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
    restore() {
      state = 'open';
      for (const socket of open) socket.resume();
    },
    accepted: () => accepted,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
