import { describe, expect, test } from 'vitest';
import { AddressRefused, createOutboundAddresses, isPublicAddress } from '../../server/platform/outbound-addresses.ts';

/** Addresses that lead inside, or nowhere, by what they are called in the registries of IANA. */
const special: Record<string, string[]> = {
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'link-local': ['169.254.169.254', 'fe80::1', 'febf::1'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  broadcast: ['255.255.255.255'],
  'unique local': ['fc00::1', 'fd00:ec2::254'],
  'site-local': ['fec0::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:a00:1'],
  'IPv4-compatible': ['::127.0.0.1', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1', '192.88.99.1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '2001:2::1'],
  reserved: ['192.0.0.8', '240.0.0.1', '4000::1', '100::1', '5f00::1', '1::1'],
  'the host of a virtual machine': ['168.63.129.16'],
  'no address': ['', 'localhost', '1.2.3', '8.8.8.8.', 'fe80::1%eth0'],
};

describe('an address is not public where it is', () => {
  test.each(Object.entries(special))('%s', (_name, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });
});

test('other addresses are public', () => {
  const addresses = ['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00::1'];
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
});

type Refusal = { message: string; isUnresolved: boolean };

async function refusalOf(url: string, { answers = [] as string[], allowedNetworks = [] as string[] } = {}) {
  const addresses = createOutboundAddresses({ allowedNetworks, resolveName: async () => answers });
  return addresses.resolve(new URL(url)).then(
    (found) => found,
    (error: unknown): Refusal => {
      if (!(error instanceof AddressRefused)) throw error;
      return { message: error.message, isUnresolved: error.isUnresolved };
    },
  );
}
const notPublic = { message: 'must lead to public addresses only', isUnresolved: false };

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://１２７.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]:8443/',
  'http://10.0.0.1/',
])('refuses %s, for which no name is looked up', async (url) => {
  expect(await refusalOf(url, { answers: ['8.8.8.8'] })).toEqual(notPublic);
});

test('refuses a name of which any address is not public', async () => {
  const answers = ['8.8.8.8', '2606:4700::1111'];
  expect(await refusalOf('https://hooks.example/', { answers })).toEqual(answers);
  for (const inside of ['10.0.0.1', '::1', '::ffff:10.0.0.1'])
    expect(await refusalOf('https://hooks.example/', { answers: [...answers, inside] })).toEqual(notPublic);
});

test('tells a name without addresses from one that leads inside', async () => {
  expect(await refusalOf('https://hooks.example/')).toEqual({
    message: 'must have a host that resolves to an address',
    isUnresolved: true,
  });
});

test('takes no plain http to a name without addresses, unless a network is allowed in which it may be', async () => {
  const http = 'http://hooks.example/';
  expect(await refusalOf(http)).toEqual({ message: 'must be an https URL', isUnresolved: false });
  expect(await refusalOf(http, { allowedNetworks: ['10.1.0.0/16'] })).toMatchObject({ isUnresolved: true });
});

test('takes plain http in allowed networks only, and in all of an URL’s addresses', async () => {
  const allowedNetworks = ['10.1.0.0/16', 'fd00::/8', '192.0.2.7'];
  const http = 'http://hooks.example/';
  for (const inside of ['10.1.2.3', 'fd12::1', '192.0.2.7'])
    expect(await refusalOf(http, { answers: [inside], allowedNetworks })).toEqual([inside]);
  expect(await refusalOf('https://hooks.example/', { answers: ['10.1.2.3', '8.8.8.8'], allowedNetworks })).toEqual([
    '10.1.2.3',
    '8.8.8.8',
  ]);
  const needsHttps = { message: 'must be an https URL', isUnresolved: false };
  expect(await refusalOf(http, { answers: ['8.8.8.8'], allowedNetworks })).toEqual(needsHttps);
  expect(await refusalOf(http, { answers: ['10.1.2.3', '8.8.8.8'], allowedNetworks })).toEqual(needsHttps);
  expect(await refusalOf(http, { answers: ['10.2.2.3'], allowedNetworks })).toEqual(notPublic);
  // A mapped address is not that of the network.
  expect(await refusalOf('https://[::ffff:10.1.2.3]/', { allowedNetworks })).toEqual(notPublic);
});
