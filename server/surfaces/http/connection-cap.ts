import type { Server } from 'node:http';
import { BlockList, isIPv6, type Socket } from 'node:net';
import { createCounts } from '../../platform/counts.ts';
import type { Log } from '../../platform/log.ts';
import { TOO_MANY_CONNECTIONS } from '../../errors/errors.ts';
import { networkOf } from './network.ts';
import { answerRaw } from './malformed-request.ts';

/*
 * Limits the unauthenticated connections of one network. Invariants:
 * - A connection counts from its start until it closes, or until a request on it is authenticated.
 * - Connections beyond the limit are refused before HTTP reads them. A few at once get an answer; more of them are cut.
 * - Connections through a proxy, or from this machine, share one address, so they are not counted.
 */

/** The most refused connections of one network that are answered at once; more are cut. */
const answeredMax = 16;
const retryAfterSeconds = 5;

const releases = new WeakMap<Socket, () => void>();

/** Stops counting the connection: a request on it was authenticated. */
export function releaseConnection(socket: Socket): void {
  releases.get(socket)?.();
}

type CapOptions = { max: number | undefined; trustProxy: string[] | false; logger: Pick<Log, 'info'> };

export function capConnections(
  server: Server,
  { max = Infinity, trustProxy, logger }: CapOptions,
): { countRefused(): number } {
  const shared = sharedAddresses(trustProxy === false ? [] : trustProxy);
  const unauthenticated = createCounts();
  const answered = createCounts();
  let refused = 0;

  function refuse(socket: Socket, network: string): void {
    refused += 1;
    socket.on('error', () => {});
    if (answered.of(network) >= answeredMax) {
      socket.destroy();
      return;
    }
    socket.once('close', answered.add(network));
    const error = TOO_MANY_CONNECTIONS({ retryAfterSeconds });
    const { code, status } = error.definition;
    const requestId = answerRaw(error, socket);
    logger.info({ security: 'refused', code, status, network, requestId }, 'refused');
  }

  /** Counts the connection, or refuses it. */
  function mayStay(socket: Socket): boolean {
    const { remoteAddress: address } = socket;
    if (address === undefined || shared.has(address)) return true;
    const network = networkOf(address);
    if (unauthenticated.of(network) >= max) {
      refuse(socket, network);
      return false;
    }
    const release = unauthenticated.add(network);
    releases.set(socket, release);
    socket.once('close', release);
    return true;
  }

  // Node's listener reads requests from every connection that it receives.
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    if (mayStay(socket)) for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  });
  return { countRefused: () => refused };
}

/** The shared addresses: this machine's, and those of trusted proxies. */
function sharedAddresses(networks: string[]): { has(address: string): boolean } {
  const list = new BlockList();
  for (const network of ['127.0.0.1', '::1', ...networks]) {
    const [address = '', size] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, size === undefined ? (family === 'ipv6' ? 128 : 32) : Number(size), family);
  }
  // An IPv4 address inside an IPv6 one is compared as IPv4.
  return { has: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') };
}
