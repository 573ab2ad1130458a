import type { Server } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Log } from '../kernel/context.ts';
import { TOO_MANY_CONNECTIONS } from '../kernel/faults.ts';
import { networkOf } from './network.ts';
import { answerRaw } from './raw-refusal.ts';

/*
 * How many connections one network may hold on which nobody has shown who they are. Invariants:
 * - A connection counts from its first moment until it closes, or until a request on it has proved its caller.
 * - One too many is refused before HTTP sees it. A few at once are told why; more of them are cut.
 * - Through a proxy, or from this machine, everybody comes from one address, so these are not counted.
 */

/** How many connections of one network are told at once why they are refused. */
const toldMax = 16;
const retryAfterSeconds = 5;

const releases = new WeakMap<Socket, () => void>();

/** A request on this connection has shown who is calling. */
export function countNoLonger(socket: Socket): void {
  releases.get(socket)?.();
}

type CapOptions = { max: number | undefined; trustProxy: string[] | false; logger: Pick<Log, 'info'> };

export function capConnections(
  server: Server,
  { max = Infinity, trustProxy, logger }: CapOptions,
): { countRefused(): number } {
  const shared = sharedAddresses(trustProxy === false ? [] : trustProxy);
  const strangers = createCounts();
  const told = createCounts();
  let refused = 0;

  function refuse(socket: Socket, network: string): void {
    refused += 1;
    socket.on('error', () => {});
    if (told.of(network) >= toldMax) {
      socket.destroy();
      return;
    }
    socket.once('close', told.add(network));
    const refusal = TOO_MANY_CONNECTIONS({ retryAfterSeconds });
    const { code, status } = refusal.fault;
    const requestId = answerRaw(refusal, socket);
    logger.info({ security: 'refused', code, status, network, requestId }, 'refused');
  }

  /** Whether the connection may stay. */
  function admit(socket: Socket): boolean {
    const { remoteAddress: address } = socket;
    if (address === undefined || shared.has(address)) return true;
    const network = networkOf(address);
    if (strangers.of(network) >= max) {
      refuse(socket, network);
      return false;
    }
    const release = strangers.add(network);
    releases.set(socket, release);
    socket.once('close', release);
    return true;
  }

  // Node's own listener reads requests from any connection that it is told of.
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    if (admit(socket)) for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  });
  return { countRefused: () => refused };
}

/** How many there are by name. What is added answers how to take it off again, which happens once. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string): () => void {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      let isCounted = true;
      return () => {
        if (!isCounted) return;
        isCounted = false;
        const left = counts.get(name)! - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}

/** The addresses from which everybody may come: this machine's, and those of the proxies in front. */
function sharedAddresses(networks: string[]): { has(address: string): boolean } {
  const list = new BlockList();
  for (const network of ['127.0.0.1', '::1', ...networks]) {
    const [address = '', size] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, size === undefined ? (family === 'ipv6' ? 128 : 32) : Number(size), family);
  }
  // An IPv4 address inside an IPv6 one is found as what it is.
  return { has: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') };
}
