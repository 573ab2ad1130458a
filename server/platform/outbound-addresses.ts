import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/*
 * The service sends requests to URLs that its callers choose. They must not lead to what only the service can reach: the
 * machine itself, its network, the metadata of a cloud. Invariants:
 *
 * - A host is resolved once for each request, and each of its addresses is checked. The connection goes to one of these
 *   (post-outbound.ts), so a name that changes between check and connection changes nothing.
 * - Public is what is left when all special ranges are removed, and of IPv6 only what is given out (2000::/3). An address
 *   that carries another one (mapped, NAT64, 6to4, Teredo) is special, whatever it carries.
 * - Operators open networks by name (`WEBHOOK_ALLOWED_NETWORKS`), and only there may a URL be plain http.
 */
export type OutboundAddresses = {
  /** The addresses of a URL's host if all may be reached; throws {@link AddressRefused} otherwise. */
  resolve(url: URL, signal?: AbortSignal): Promise<string[]>;
};

/** Answers the addresses of a name; none where the name has none or nobody knows. */
export type ResolveName = (name: string, signal?: AbortSignal) => Promise<string[]>;

/** A URL may not be reached. The text names neither the URL nor an address, so it may be shown to who set the URL. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
  /** Whether only the name is unknown, which may pass. */
  readonly isUnresolved: boolean;

  constructor(message: string, { isUnresolved = false } = {}) {
    super(message);
    this.isUnresolved = isUnresolved;
  }
}

/** A public address of Azure that leads to the host of the machine. */
const hostServices = new Set(['168.63.129.16']);
const globalUnicast = ipaddr.parseCIDR('2000::/3');

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || hostServices.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast);
}

/** Whether an address is in one of the networks, each an address or in CIDR notation. */
function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((network) =>
    ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${isIP(network) === 4 ? 32 : 128}`),
  );
  return (address) => {
    if (isIP(address) === 0) return false;
    const one = ipaddr.parse(address);
    return parsed.some(([network, bits]) => one.kind() === network.kind() && one.match(network, bits));
  };
}

const mustBePublic = 'must lead to public addresses only';
const mustBeHttps = 'must be an https URL';

export function createOutboundAddresses({
  allowedNetworks = [],
  resolveName = createDnsResolver(),
}: {
  allowedNetworks?: readonly string[];
  resolveName?: ResolveName;
}): OutboundAddresses {
  const isAllowed = createNetworks(allowedNetworks);
  return {
    async resolve(url, signal) {
      // An IPv6 address stands in brackets, and names may have a last dot.
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      const addresses = isIP(host) === 0 ? await resolveName(host.replace(/\.$/, ''), signal) : [host];
      // Plain http to a name that nobody knows yet can come to be allowed in a network only.
      if (addresses.length === 0 && url.protocol !== 'https:' && allowedNetworks.length === 0)
        throw new AddressRefused(mustBeHttps);
      if (addresses.length === 0)
        throw new AddressRefused('must have a host that resolves to an address', { isUnresolved: true });
      if (!addresses.every((address) => isAllowed(address) || isPublicAddress(address)))
        throw new AddressRefused(mustBePublic);
      if (url.protocol !== 'https:' && !addresses.every(isAllowed)) throw new AddressRefused(mustBeHttps);
      return addresses;
    },
  };
}

/**
 * Asks the name servers of the machine, without its hosts file: the usual lookup runs on the few threads that hash passwords,
 * and names whose servers do not answer would keep them all.
 */
export function createDnsResolver({
  servers,
  timeoutMs = 2_000,
}: { servers?: string[]; timeoutMs?: number } = {}): ResolveName {
  return async (name, signal) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      return found.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  };
}
