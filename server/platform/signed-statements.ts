import { CompactSign, compactVerify, decodeProtectedHeader, type CryptoKey } from 'jose';
import { algorithm } from './signing-keys.ts';

/**
 * Statements that the service signs for later readers, such as seals: a JSON Web Signature (RFC 7515) in its compact form. `typ`
 * keeps statements of one kind from being taken for another, or for tokens.
 */
export type SignedStatements = {
  sign(kind: string, payload: object): Promise<string>;
  /** The payload; `forged` where the signature is wrong, `unknown key` where the key set has no such key any more. */
  verify(kind: string, statement: string): Promise<{ payload: unknown } | 'forged' | 'unknown key'>;
};

export function createSignedStatements(
  signing: { key: CryptoKey; kid: string },
  verifying: ReadonlyMap<string, CryptoKey>,
): SignedStatements {
  const typeOf = (kind: string) => `wms-${kind}+jws`;
  return {
    sign: (kind, payload) =>
      new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: algorithm, typ: typeOf(kind), kid: signing.kid })
        .sign(signing.key),
    async verify(kind, statement) {
      try {
        const { kid = '', typ } = decodeProtectedHeader(statement);
        const key = verifying.get(kid);
        if (typ !== typeOf(kind)) return 'forged';
        if (!key) return 'unknown key';
        const { payload } = await compactVerify(statement, key, { algorithms: [algorithm] });
        return { payload: JSON.parse(Buffer.from(payload).toString()) as unknown };
      } catch {
        return 'forged';
      }
    },
  };
}
