import { createHmac, createPrivateKey, createPublicKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { Tokens } from './tokens.ts';

/*
 * Signatures of webhooks as Standard Webhooks defines them, over `id.timestamp.body`: `v1` by a secret that the endpoint shares
 * with the service, `v1a` by a key that only the service has. An endpoint checks whichever it likes.
 */
export type WebhookSigner = {
  /** The keys that check `v1a`: `whpk_` and 32 bytes in base64. While `AUTH_KEYS` are rotated there are several. */
  publicKeys: string[];
  /** The value of the header `webhook-signature`, with a signature by each secret and each key of the service. */
  sign(message: { id: string; timestamp: number; body: string }, secrets: readonly string[]): string;
};

const secretPrefix = 'whsec_';

/** A new secret of an endpoint: 32 random bytes. */
export const createWebhookSecret = (): string => `${secretPrefix}${randomBytes(32).toString('base64')}`;

export function createWebhookSigner({ deriveKeys }: Pick<Tokens, 'deriveKeys'>): WebhookSigner {
  const keys = deriveKeys('webhook signature', '').map(toPrivateKey);
  return {
    publicKeys: keys.map((key) => `whpk_${toPublicBytes(key).toString('base64')}`),
    sign({ id, timestamp, body }, secrets) {
      const content = Buffer.from(`${id}.${timestamp}.${body}`);
      const shared = secrets.map((secret) => {
        const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
        return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
      });
      const own = keys.map((key) => `v1a,${sign(null, content, key).toString('base64')}`);
      return [...shared, ...own].join(' ');
    },
  };
}

/** What precedes the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const toPrivateKey = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });

const toPublicBytes = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x!, 'base64url');
