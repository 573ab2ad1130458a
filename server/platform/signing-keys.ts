import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

/** The one signature algorithm of the service: Ed25519. */
export const algorithm = 'EdDSA';

/** Generates a key set in the form of `AUTH_KEYS`. */
export async function generateKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return JSON.stringify({ keys: [{ ...jwk, alg: algorithm, use: 'sig', kid: randomBytes(8).toString('hex') }] });
}

/** Parses a key set; refuses keys of other types with a sentence for the operator. */
export function readKeys(keys: string): JWK[] {
  let set: { keys?: JWK[] };
  try {
    set = JSON.parse(keys) as { keys?: JWK[] };
  } catch {
    throw new Error('AUTH_KEYS is not JSON');
  }
  const usable = set.keys ?? [];
  const good =
    usable.length > 0 && usable.every((key) => key.kty === 'OKP' && key.crv === 'Ed25519' && key.d && key.x && key.kid);
  if (!good)
    throw new Error(
      'AUTH_KEYS must be a JSON Web Key Set of Ed25519 private keys, each with a kid (make one with `npm run keys`)',
    );
  return usable;
}
