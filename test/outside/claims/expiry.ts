import { createPrivateKey, sign, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { got, headersOf, said, type Pair } from '../caller.ts';
import { service } from '../running.ts';

/*
 * Contract 2.2: what happens when tokens have expired. The keys of the service lie in its folder, as its operator has them; with
 * them a real session's token is signed again as it will be when its time is over.
 */

const { anonymous } = service;
const admin = await service.register();
const path = `/employee/me/${admin._id}/`;
const { keys } = JSON.parse(readFileSync(join(service.folder, 'auth-keys.json'), 'utf8')) as { keys: JsonWebKey[] };
const key = createPrivateKey({ key: keys[0]!, format: 'jwk' });

/** The same token, issued so many seconds earlier. */
function aged(token: string, seconds: number): string {
  const [head, payload] = token.split('.') as [string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number; exp: number };
  const earlier = { ...claims, iat: claims.iat - seconds, exp: claims.exp - seconds };
  const signed = `${head}.${Buffer.from(JSON.stringify(earlier)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

const newPair = async (): Promise<Pair> => got(await service.codeLogin((await service.join(admin)).email)) as Pair;
const refresh = async ({ refresh_token }: Pair): Promise<Pair> =>
  got(await anonymous.post('/api/token/refresh/', { refresh_token })) as Pair;
const expired = (pair: Pair): Pair => ({ ...pair, access_token: aged(pair.access_token, 901) });

describe('contract 2.2, an expired access token', () => {
  test('is served with a good refresh token of its session, and the answer carries a fresh one in X-Access-Token', async () => {
    const pair = await newPair();
    const answer = await anonymous.get(path, headersOf(expired(pair)));
    expect(said(answer)).toBe('200');
    const fresh = answer.headers.get('x-access-token')!;
    const next = await anonymous.get(path, headersOf({ ...pair, access_token: fresh }));
    expect([said(next), next.headers.get('x-access-token')]).toEqual(['200', null]);
  });

  test('that has not expired brings no other one', async () => {
    expect((await anonymous.get(path, headersOf(await newPair()))).headers.get('x-access-token')).toBeNull();
  });

  test('alone is 401, and so is one with the refresh token of another session', async () => {
    const [pair, other] = [expired(await newPair()), await newPair()];
    const { authorization } = headersOf(pair);
    expect(said(await anonymous.get(path, { authorization: authorization! }))).toMatch(/^401 /);
    expect(said(await anonymous.get(path, headersOf({ ...pair, refresh_token: other.refresh_token })))).toMatch(
      /^401 /,
    );
  });

  test('with the predecessor of the refresh token is served within 10 seconds', async () => {
    const pair = await newPair();
    await refresh(pair);
    expect(said(await anonymous.get(path, headersOf(expired(pair))))).toBe('200');
  });

  test('with an older refresh token is theft: the session ends', async () => {
    const pair = await newPair();
    const current = await refresh(await refresh(pair));
    expect(said(await anonymous.get(path, headersOf(expired(pair))))).toBe('401 SESSION_ENDED');
    expect(said(await anonymous.get(path, headersOf(current)))).toBe('401 SESSION_ENDED');
  });
});

describe('contract 2.2, an expired refresh token', () => {
  test('is 401 on every request, and makes no new pair', async () => {
    const pair = await newPair();
    const refresh_token = aged(pair.refresh_token, 30 * 24 * 3600 + 1);
    expect(said(await anonymous.get(path, headersOf({ ...pair, refresh_token })))).toBe('401 INVALID_TOKEN');
    expect(said(await anonymous.post('/api/token/refresh/', { refresh_token }))).toBe('401 INVALID_TOKEN');
    expect(said(await anonymous.get(path, headersOf(pair)))).toBe('200');
  });
});
