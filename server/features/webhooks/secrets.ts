import type { Db } from '../../../db/open.ts';
import { seal, unseal } from '../../platform/seal.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { createWebhookSecret } from '../../platform/webhook-signature.ts';

/** For so long after a rotation the earlier secret signs too, so that a receiver can take the new one over. */
export const previousSecretLifetimeMs = 24 * 3600 * 1000;

const keysOf = ({ deriveKeys }: Pick<Tokens, 'deriveKeys'>, companyId: number) =>
  deriveKeys('webhook secret', String(companyId));

/** A new secret, and what is stored of it: the database alone cannot sign. */
export async function createSealedSecret(
  tokens: Pick<Tokens, 'deriveKeys'>,
  companyId: number,
): Promise<{ secret: string; sealed: Buffer }> {
  const secret = createWebhookSecret();
  return { secret, sealed: await seal(secret, keysOf(tokens, companyId)[0]) };
}

/** Throws where the key that sealed it is not in `AUTH_KEYS` any more. */
export const unsealSecret = (tokens: Pick<Tokens, 'deriveKeys'>, companyId: number, sealed: Buffer): Promise<string> =>
  unseal(sealed, keysOf(tokens, companyId));

/** Deletes the secrets from before rotations, of all companies, that do not sign any more. */
export async function deletePreviousSecrets(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ sealed_previous_secret: null, previous_secret_until: null })
    .where('previous_secret_until', '<=', now)
    .execute();
}
