import { isIPv6 } from 'node:net';

/** Some proxies, such as Azure's, add the port to an address in X-Forwarded-For, and each connection has another one. */
const withPort = /^(?:(\d+\.\d+\.\d+\.\d+)|\[(.+)\]):\d+$/;

/** One household owns a whole IPv6 /64, so its addresses count as one. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [, ipv4, ipv6] = withPort.exec(address) ?? [];
  const ip = ipv4 ?? ipv6 ?? address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !isIPv6(ip)) return mapped ?? ip;
  const [head = '', tail = ''] = ip.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
