import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * What a network does to a link. `refused`: connections are reset, also new ones. `silent`: nothing arrives on either side, and
 * nobody is told. `deaf`: what is asked arrives, and no answer does. `slow`: everything arrives `slowMs` later.
 */
export type LinkState = 'open' | 'refused' | 'silent' | 'deaf' | 'slow';
export const faultsOfLinks = ['refused', 'silent', 'deaf', 'slow'] as const satisfies LinkState[];

const slowMs = 250;

/** The network between two parts: they reach each other through this process, on a port for each port behind it. */
export class Link {
  readonly name: string;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #state: LinkState = 'open';
  #isClosed = false;
  #changed = Promise.withResolvers<void>();

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the port that leads to `port` by way of this link. */
  async to(port: number): Promise<number> {
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => this.#join(near, server, port));
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  set(state: LinkState): void {
    this.#state = state;
    if (state === 'refused') for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  close(): void {
    this.#isClosed = true;
    this.set('refused');
    for (const server of this.#servers) server.close();
  }

  #join(near: Socket, server: Server, port: number): void {
    if (this.#state === 'refused') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true });
    far.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') void this.#refuse(server, port);
    });
    this.#carry(near, far, ['silent']);
    this.#carry(far, near, ['silent', 'deaf']);
  }

  /** Refuses connections as long as nobody listens behind it: this process accepts one before it knows. */
  async #refuse(server: Server, port: number): Promise<void> {
    if (!server.listening) return;
    const address = server.address() as AddressInfo;
    server.close();
    while (!(await isListening(port))) {
      await delay(50);
      if (this.#isClosed) return;
    }
    server.listen(address.port, address.address);
  }

  /** Passes on what comes and, in its turn, that the connection has ended; like TCP it holds back what the network drops. */
  #carry(from: Socket, to: Socket, droppedWhile: LinkState[]): void {
    let before = Promise.resolve();
    const inTurn = (act: () => void): void => {
      const dueAt = performance.now() + (this.#state === 'slow' ? slowMs : 0);
      before = afterThat(before, dueAt).then(act);
    };
    const afterThat = async (previous: Promise<void>, dueAt: number): Promise<void> => {
      await previous;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await delay(waitMs);
      while (droppedWhile.includes(this.#state)) await this.#changed.promise;
    };
    this.#sockets.add(from);
    from.on('data', (chunk: Buffer) =>
      inTurn(() => {
        if (to.destroyed || to.write(chunk) || from.isPaused()) return;
        from.pause();
        to.once('drain', () => from.resume());
      }),
    );
    from.on('error', () => {});
    from.on('end', () => inTurn(() => to.end()));
    from.on('close', () => {
      this.#sockets.delete(from);
      inTurn(() => to.destroy());
    });
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1');
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
