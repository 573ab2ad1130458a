import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { afterAll } from 'vitest';

export type TokenParts = {
  issuer?: string;
  audience?: string | string[];
  subject?: string;
  email?: string | null;
  emailVerified?: unknown;
  issuedAt?: Date;
  expiresInSeconds?: number;
  /** Signs with this key under the published key's name. */
  signedBy?: CryptoKey;
  header?: Record<string, unknown>;
  /** More claims, or others than usual. */
  claims?: Record<string, unknown>;
};

/** An identity provider of the test's own: publishes its keys over HTTP and signs real tokens. */
export type Issuer = {
  issuer: string;
  audience: string;
  jwksUrl: string;
  sign(parts?: TokenParts): Promise<string>;
  /** From now on signs with a new key; the old one is published no more. */
  rotate(): Promise<void>;
  /** How often the keys were fetched. */
  fetches(): number;
  isDown: boolean;
};

export async function startIssuer(now: () => Date): Promise<Issuer> {
  let fetches = 0;
  let current: { privateKey: CryptoKey; jwk: JWK };
  const makeKey = async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    current = {
      privateKey,
      jwk: { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: crypto.randomUUID() },
    };
  };
  await makeKey();

  const server = createServer((_request, response) => {
    fetches += 1;
    if (issuer.isDown) return void response.writeHead(500).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [current.jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: Issuer = {
    issuer: url,
    audience: 'client-1',
    jwksUrl: `${url}/keys`,
    isDown: false,
    fetches: () => fetches,
    rotate: makeKey,
    sign(parts = {}) {
      const { email = 'ada@example.com', emailVerified = true } = parts;
      const issuedAt = parts.issuedAt ?? now();
      return new SignJWT({
        // Each token is another one, as real ones are.
        jti: crypto.randomUUID(),
        ...(email === null ? {} : { email, email_verified: emailVerified }),
        ...parts.claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: current.jwk.kid!, ...parts.header })
        .setIssuer(parts.issuer ?? url)
        .setAudience(parts.audience ?? 'client-1')
        .setSubject(parts.subject ?? 'subject-1')
        .setIssuedAt(issuedAt)
        .setExpirationTime(Math.floor(issuedAt.getTime() / 1000) + (parts.expiresInSeconds ?? 3600))
        .sign(parts.signedBy ?? current.privateKey);
    },
  };
  return issuer;
}
