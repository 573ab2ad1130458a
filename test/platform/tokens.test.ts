import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { INVALID_TOKEN } from '../../server/errors/errors.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';

const keys = await generateKeys();
const [ours] = (JSON.parse(keys) as { keys: (JsonWebKey & { kid: string })[] }).keys;
const publicPart = { kty: ours!.kty!, crv: ours!.crv!, x: ours!.x! };
const tokens = await createTokens(keys);
const now = new Date();
const session = { sessionId: 7 };
const access = await tokens.issueAccess({ ...session, now });
const refresh = await tokens.issueRefresh({
  ...session,
  generation: 1,
  issuedAt: now,
  expiresAt: new Date(now.getTime() + 30 * 86_400_000),
});
const [header, payload, signature] = access.split('.') as [string, string, string];

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
const claims = decode(payload);
const goodHeader = decode(header);
const foreign = generateKeyPairSync('ed25519');
const ourPrivate = (await import('node:crypto')).createPrivateKey({ key: ours!, format: 'jwk' });

function ed(head: unknown, body: unknown, key: KeyObject = foreign.privateKey): string {
  const input = `${encode(head)}.${encode(body)}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}
function hmac(algorithm: string, secret: string | Buffer): string {
  const input = `${encode({ ...goodHeader, alg: `HS${algorithm}` })}.${payload}`;
  return `${input}.${createHmac(`sha${algorithm}`, secret).update(input).digest('base64url')}`;
}
const without = (claim: string) => Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim));

// A key set that a header points to: nobody may fetch it.
let fetches = 0;
const trap = createServer((_request, response) => {
  fetches += 1;
  response.end(JSON.stringify({ keys: [{ ...foreign.publicKey.export({ format: 'jwk' }), kid: 'evil' }] }));
});
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => trap.close(resolve)));
const trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/keys`;

const ourPublic = createPublicKey({ key: publicPart, format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsInput = `${encode({ ...goodHeader, alg: 'RS256' })}.${payload}`;
const esInput = `${encode({ ...goodHeader, alg: 'ES256' })}.${payload}`;

/** What somebody without our key can make, and what our own key never signs for an access token. */
const forged: Record<string, string> = {
  'none, no signature': `${encode({ ...goodHeader, alg: 'none' })}.${payload}.`,
  'None, no signature': `${encode({ ...goodHeader, alg: 'None' })}.${payload}.`,
  'NONE, no signature': `${encode({ ...goodHeader, alg: 'NONE' })}.${payload}.`,
  'nOnE with our signature': `${encode({ ...goodHeader, alg: 'nOnE' })}.${payload}.${signature}`,
  'none with our signature': `${encode({ ...goodHeader, alg: 'none' })}.${payload}.${signature}`,
  'no algorithm': `${encode({ typ: 'at+jwt', kid: ours!.kid })}.${payload}.${signature}`,
  'algorithm is empty': `${encode({ ...goodHeader, alg: '' })}.${payload}.${signature}`,
  'algorithm is a list': `${encode({ ...goodHeader, alg: ['EdDSA'] })}.${payload}.${signature}`,
  'HS256 with our public key as PEM': hmac('256', ourPublic.export({ type: 'spki', format: 'pem' })),
  'HS256 with our public key as DER': hmac('256', ourPublic.export({ type: 'spki', format: 'der' })),
  'HS256 with the bytes of our public key': hmac('256', Buffer.from(publicPart.x, 'base64url')),
  'HS256 with the name of our key': hmac('256', ours!.kid),
  'HS256 with an empty secret': hmac('256', ''),
  'HS384 with our public key': hmac('384', ourPublic.export({ type: 'spki', format: 'pem' })),
  'HS512 with our public key': hmac('512', ourPublic.export({ type: 'spki', format: 'pem' })),
  'RS256 of a foreign key': `${rsInput}.${sign('sha256', Buffer.from(rsInput), rsa.privateKey).toString('base64url')}`,
  'ES256 of a foreign key': `${esInput}.${sign('sha256', Buffer.from(esInput), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`,
  'ES256 with zeroes': `${esInput}.${Buffer.alloc(64).toString('base64url')}`,
  'a foreign key under our name': ed(goodHeader, claims),
  'a foreign key under its own name': ed({ ...goodHeader, kid: 'foreign' }, claims),
  'a foreign key without a name': ed({ alg: 'EdDSA', typ: 'at+jwt' }, claims),
  'our key without a name': ed({ alg: 'EdDSA', typ: 'at+jwt' }, claims, ourPrivate),
  'a key in the header (jwk)': ed({ ...goodHeader, jwk: foreign.publicKey.export({ format: 'jwk' }) }, claims),
  'a key in the header, named so': ed(
    { ...goodHeader, kid: 'evil', jwk: { ...foreign.publicKey.export({ format: 'jwk' }), kid: 'evil' } },
    claims,
  ),
  'a key set in the header (jku)': ed({ ...goodHeader, kid: 'evil', jku: trapUrl }, claims),
  'a certificate in the header (x5u)': ed({ ...goodHeader, kid: 'evil', x5u: trapUrl }, claims),
  'a certificate in the header (x5c)': ed(
    { ...goodHeader, x5c: [foreign.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
    claims,
  ),
  'a name that is a path': ed({ ...goodHeader, kid: '../../../../dev/null' }, claims),
  'a name that is SQL': ed({ ...goodHeader, kid: "' or '1'='1" }, claims),
  'a name that is a property': ed({ ...goodHeader, kid: '__proto__' }, claims),
  'a critical extension': ed({ ...goodHeader, crit: ['exp'] }, claims, ourPrivate),
  'an unencoded payload': ed({ ...goodHeader, b64: false, crit: ['b64'] }, claims, ourPrivate),
  'a refresh token': refresh,
  'the type of a refresh token': ed({ ...goodHeader, typ: 'rt+jwt' }, claims, ourPrivate),
  'the type JWT': ed({ ...goodHeader, typ: 'JWT' }, claims, ourPrivate),
  'no type': ed({ alg: 'EdDSA', kid: ours!.kid }, claims, ourPrivate),
  'the audience of a refresh token': ed(goodHeader, { ...claims, aud: 'work-management-service:refresh' }, ourPrivate),
  'no audience': ed(goodHeader, without('aud'), ourPrivate),
  'another issuer': ed(goodHeader, { ...claims, iss: 'https://evil.example' }, ourPrivate),
  'no issuer': ed(goodHeader, without('iss'), ourPrivate),
  'no expiry': ed(goodHeader, without('exp'), ourPrivate),
  'an expiry in words': ed(goodHeader, { ...claims, exp: '2099' }, ourPrivate),
  'no session': ed(goodHeader, without('sid'), ourPrivate),
  'a session in words': ed(goodHeader, { ...claims, sid: '7' }, ourPrivate),
  'a session that is no integer': ed(goodHeader, { ...claims, sid: 7.5 }, ourPrivate),
  'another account': `${header}.${encode({ ...claims, sub: '4' })}.${signature}`,
  'another session': `${header}.${encode({ ...claims, sid: 8 })}.${signature}`,
  'a later expiry': `${header}.${encode({ ...claims, exp: 4_102_444_800 })}.${signature}`,
  'no signature': `${header}.${payload}.`,
  'no third part': `${header}.${payload}`,
  'half a signature': `${header}.${payload}.${signature.slice(0, 43)}`,
  'a doubled signature': `${header}.${payload}.${signature}${signature}`,
  'a padded signature': `${access}==`,
  'a fourth part': `${access}.${signature}`,
  'five parts': `${header}..${payload}.${payload}.${signature}`,
  'white space': `${access} `,
  'a line break': `${header}\n.${payload}.${signature}`,
  'another spelling of the last character': `${access.slice(0, -1)}${String.fromCharCode(access.charCodeAt(access.length - 1) + 1)}`,
  'an empty word': '',
  dots: '..',
  'random bytes': randomBytes(200).toString('base64url'),
};

describe('an access token', () => {
  test('of our own making is accepted, and tells session and account', async () => {
    await expect(tokens.verifyAccess(access)).resolves.toMatchObject(session);
    await expect(tokens.verifyRefresh(refresh)).resolves.toMatchObject({ ...session, generation: 1 });
  });

  test.each(Object.entries(forged))('is refused with %s', async (_what, token) => {
    await expect(tokens.verifyAccess(token)).rejects.toThrow(INVALID_TOKEN.sentence);
  });

  test('never makes the service fetch a key', () => expect(fetches).toBe(0));

  test('is refused in each of 10,000 mutations', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';
    const mutation = fc.record({
      at: fc.nat(access.length - 1),
      by: fc.constantFrom(...alphabet.split('')),
      how: fc.constantFrom('replace', 'insert', 'cut', 'swap'),
    });
    const mutate = (token: string, { at, by, how }: { at: number; by: string; how: string }): string => {
      if (how === 'insert') return token.slice(0, at) + by + token.slice(at);
      if (how === 'cut') return token.slice(0, at) + token.slice(at + 1);
      if (how === 'swap') return token.slice(0, at) + (token[at + 1] ?? '') + token[at]! + token.slice(at + 2);
      return token.slice(0, at) + by + token.slice(at + 1);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        const token = mutations.reduce(mutate, access);
        fc.pre(token !== access);
        await expect(tokens.verifyAccess(token)).rejects.toThrow(INVALID_TOKEN.sentence);
      }),
      { numRuns: 10_000 },
    );
  }, 120_000);
});

describe('the keys', () => {
  test('rotate: the new one signs, the old one is still good, and gone it is refused', async () => {
    const newer = await generateKeys();
    const both = JSON.stringify({ keys: [...(JSON.parse(newer) as { keys: unknown[] }).keys, ours] });
    const rotated = await createTokens(both);
    await expect(rotated.verifyAccess(access)).resolves.toMatchObject(session);
    const fresh = await rotated.issueAccess({ ...session, now });
    await expect(tokens.verifyAccess(fresh)).rejects.toThrow(INVALID_TOKEN.sentence);
    const onlyNew = await createTokens(newer);
    await expect(onlyNew.verifyAccess(fresh)).resolves.toMatchObject(session);
    await expect(onlyNew.verifyAccess(access)).rejects.toThrow(INVALID_TOKEN.sentence);
    expect(rotated.isDigest(tokens.digest('code', '123456'), 'code', '123456')).toBe(true);
  });

  test('reach every node before one signs: a node that has the new one behind the old accepts it', async () => {
    const newer = await generateKeys();
    const [added] = (JSON.parse(newer) as { keys: JsonWebKey[] }).keys;
    const setOf = (...set: unknown[]) => createTokens(JSON.stringify({ keys: set }));
    const [oldFirst, newFirst] = [await setOf(ours, added), await setOf(added, ours)];
    for (const [signing, verifying] of [
      [oldFirst, tokens],
      [newFirst, oldFirst],
      [oldFirst, newFirst],
    ] as const) {
      const signed = await signing.issueAccess({ ...session, now });
      await expect(verifying.verifyAccess(signed)).resolves.toMatchObject(session);
      expect(verifying.isDigest(signing.digest('code', '123456'), 'code', '123456')).toBe(true);
      const [sealing] = signing.deriveKeys('answer', '');
      expect(verifying.deriveKeys('answer', '')).toContainEqual(sealing);
    }
    // So the new key must not be put first at once.
    const tooEarly = await newFirst.issueAccess({ ...session, now });
    await expect(tokens.verifyAccess(tooEarly)).rejects.toThrow(INVALID_TOKEN.sentence);
  });

  test.each([
    '',
    '{}',
    '{"keys":[]}',
    'not json',
    JSON.stringify({ keys: [{ kty: 'RSA', kid: 'x' }] }),
    JSON.stringify({ keys: [publicPart] }),
  ])('are refused where they cannot be used: %s', async (bad) => {
    await expect(createTokens(bad)).rejects.toThrow(/AUTH_KEYS/);
  });
});
