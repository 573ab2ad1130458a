import { createDecipheriv, createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { canonicalJson } from './wire/canonical-json.ts';
import type { Context } from './context.ts';
import { isSealed, seal, tryKeys, unseal } from '../platform/seal.ts';
import { IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED } from '../errors/errors.ts';

/*
 * A write with an `Idempotency-Key` takes effect once. Invariants:
 *
 * - The answer is stored for 24 hours, in the transaction of its effect. The same key with the same input gets that
 *   answer again, in the same session or with the same API key.
 * - Errors are not stored: they changed nothing, so the caller may correct the input and retry with the same key.
 * - Answers that hold a token or an API key are never stored ({@link honoursIdempotencyKey}).
 * - All other answers are personal data. They are encrypted with a key derived from the service's secret and the
 *   caller's header, of which only a hash is stored. The database alone can decrypt none of them.
 * - The input is stored as a keyed hash, because it may hold a password.
 */
export const answerLifetimeMs = 24 * 3600 * 1000;

const digestPurpose = 'idempotent input';

/** The answer may have shown a person who was erased since, so it is gone; that it was given is not. */
const answerErased =
  'The request with this key was done, and its answer was erased together with a person: read the record instead.';

/** Keys of this process whose first request is still running. */
const running = new Set<string>();

export type IdempotentCall = {
  /** The stored answer of an earlier call, if there is one. */
  findAnswer(): Promise<{ answer: unknown } | undefined>;
  /** Locks the key at the start of the transaction, against the same call in another process. */
  lock(db: Db): Promise<void>;
  store(db: Db, answer: unknown): Promise<void>;
  end(): void;
};

export function beginIdempotentCall(
  ctx: Context,
  { caller, companyId }: { caller: string; companyId: number | null },
  operation: string,
  key: string,
  input: unknown,
): IdempotentCall {
  const { clock, tokens, database } = ctx.services;
  const keyHash = sha256(`${caller}\0${operation}\0${key}`);
  const inputText = `${key}\0${canonicalJson(input)}`;
  if (running.has(keyHash)) throw IDEMPOTENCY_KEY_IN_USE({ retryAfterSeconds: 1 });
  running.add(keyHash);
  const sealingKeys = () => tokens.deriveKeys('idempotent answer', `${caller}\0${key}`);

  async function find(db: Db) {
    return db
      .selectFrom('idempotent_answers')
      .where('key_hash', '=', keyHash)
      .where('created_at', '>', new Date(clock.now().getTime() - answerLifetimeMs))
      .select(['input_hash', 'sealed_answer'])
      .executeTakeFirst();
  }

  return {
    async findAnswer() {
      const stored = await find(database.reads);
      if (!stored) return undefined;
      if (!tokens.isDigest(stored.input_hash, digestPurpose, inputText)) throw IDEMPOTENCY_KEY_REUSED();
      if (stored.sealed_answer.length === 0) throw IDEMPOTENCY_KEY_REUSED({ detail: answerErased });
      return { answer: JSON.parse(await unsealAnswer(stored.sealed_answer, sealingKeys())) as unknown };
    },
    async lock(db) {
      // The lock ends with the transaction, even if the process is killed.
      const { rows } = await sql<{
        free: boolean;
      }>`select pg_try_advisory_xact_lock(hashtextextended(${keyHash}, 0)) as free`.execute(db);
      if (!rows[0]?.free || (await find(db))) throw IDEMPOTENCY_KEY_IN_USE({ retryAfterSeconds: 1 });
    },
    async store(db, answer) {
      const row = {
        operation,
        of_company: companyId,
        input_hash: tokens.digest(digestPurpose, inputText),
        sealed_answer: await seal(JSON.stringify(answer), sealingKeys()[0]),
        created_at: clock.now(),
      };
      await db
        .insertInto('idempotent_answers')
        .values({ key_hash: keyHash, ...row })
        .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(row))
        .execute();
    },
    end: () => void running.delete(keyHash),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

async function unsealAnswer(sealed: Buffer, keys: [Buffer, ...Buffer[]]): Promise<string> {
  return isSealed(sealed) ? unseal(sealed, keys) : tryKeys(keys, (key) => unsealEarlier(sealed, key));
}

/** Nonce, tag and text, as earlier versions stored them: a request that is repeated across an upgrade gets its answer. */
function unsealEarlier(sealed: Buffer, key: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString();
}
