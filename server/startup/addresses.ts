import { createServer, type AddressInfo } from 'node:net';
import type { Config } from '../config.ts';

/** The service must know its own address before it listens, for the links that it writes. */
export async function findFreePort(host: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => probe.once('error', failed).listen(0, host, done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

/** The address to call for an address to listen on. */
export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** The frontend that links lead to. The demo page reads the target of a link from the part after `#`. */
export function appUrlOf(
  { APP_URL: appUrl }: Config,
  { publicUrl, hasDemoPage }: { publicUrl: string; hasDemoPage: boolean },
): string {
  return appUrl ?? (hasDemoPage ? `${publicUrl}/demo/#` : publicUrl);
}

/** Whether there is a demo company, and its page if that can be built. */
export const isDemoOn = ({ SEED_DEMO, NODE_ENV }: Config): boolean => SEED_DEMO ?? NODE_ENV !== 'production';
