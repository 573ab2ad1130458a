import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDnsResolver, createOutboundAddresses } from '../../server/platform/outbound-addresses.ts';

/* A name server of the test's own, which answers the second question about a name otherwise than the first. */

const kinds = { 1: 'A', 28: 'AAAA' } as const;
type Answers = Partial<Record<'A' | 'AAAA', (number[] | undefined)[]>>;

/** The bytes of the addresses of each name, one for each time that it is asked for; `silent` is never answered. */
const zone: Record<string, Answers> = {
  'both.example': { A: [[8, 8, 8, 8]], AAAA: [[0x26, 0x06, 0x47, 0, ...Array(11).fill(0), 0x11]] },
  'four.example': { A: [[8, 8, 4, 4]] },
  'rebinding.example': {
    A: [
      [8, 8, 8, 8],
      [127, 0, 0, 1],
    ],
  },
};

const socket = createSocket('udp4');
beforeAll(async () => {
  socket.on('message', (query, { port, address }) => {
    const { name, kind } = questionOf(query);
    if (name === 'silent.example') return;
    const records = zone[name]?.[kind] ?? [];
    const record = records.length > 1 ? records.shift() : records[0];
    socket.send(answerOf(query, record, name in zone), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
});
afterAll(() => void socket.close());

function questionOf(query: Buffer): { name: string; kind: 'A' | 'AAAA'; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.subarray(at + 1, at + 1 + query[at]!).toString());
  const kind = kinds[query.readUInt16BE(at + 1) as keyof typeof kinds];
  return { name: labels.join('.').toLowerCase(), kind, end: at + 5 };
}

/** An answer in the format of RFC 1035: the question again, and a record that points at its name. */
function answerOf(query: Buffer, record: number[] | undefined, isKnown: boolean): Buffer {
  const { kind, end } = questionOf(query);
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(isKnown ? 0x81_80 : 0x81_83, 2);
  head.writeUInt16BE(record ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  const question = query.subarray(12, end);
  if (!record) return Buffer.concat([head, question]);
  const fields = Buffer.from([0xc0, 12, 0, kind === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, record.length]);
  return Buffer.concat([head, question, fields, Buffer.from(record)]);
}

const resolver = (timeoutMs = 2_000) =>
  createDnsResolver({ servers: [`127.0.0.1:${socket.address().port}`], timeoutMs });

test('answers the addresses of both families, and none of an unknown name', async () => {
  expect(await resolver()('both.example')).toEqual(['8.8.8.8', '2606:4700::11']);
  expect(await resolver()('four.example')).toEqual(['8.8.4.4']);
  expect(await resolver()('unknown.example')).toEqual([]);
});

test('refuses a name whose address has become the machine itself', async () => {
  const outbound = createOutboundAddresses({ resolveName: resolver() });
  const url = new URL('https://rebinding.example/');
  expect(await outbound.resolve(url)).toEqual(['8.8.8.8']);
  await expect(outbound.resolve(url)).rejects.toThrow('must lead to public addresses only');
});

test('ends when its name server is silent, and at once when it is told to', async () => {
  expect(await resolver(100)('silent.example')).toEqual([]);
  const begun = performance.now();
  expect(await resolver(20_000)('silent.example', AbortSignal.timeout(100))).toEqual([]);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
