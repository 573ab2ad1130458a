import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Context } from './context.ts';
import { IDEMPOTENCY_KEY_IN_USE, IDEMPOTENCY_KEY_REUSED } from './faults.ts';

/**
 * A write with an `Idempotency-Key` happens once: its answer is kept for 24 hours, in the transaction of its effect,
 * and the same key with the same input gets that answer again, in the same session or with the same API key. Refusals are
 * not kept: they changed nothing, so the caller may mend the input and come again with the same key.
 *
 * Answers that hold a token or an API key are never kept ({@link honoursIdempotencyKey}). All others are personal data:
 * they are sealed with a key made of the service's own secret and the caller's header, of which only a hash is stored,
 * and the input is stored as a keyed hash, for it may hold a password. The database alone opens none of them.
 */
export const answerLifetimeMs = 24 * 3600 * 1000;

const digestPurpose = 'idempotent input';

/** Keys of this process whose first request is still running. */
const running = new Set<string>();

export type IdempotentCall = {
  /** The kept answer of an earlier call, if there is one. */
  findAnswer(): Promise<{ answer: unknown } | undefined>;
  /** For the start of the transaction: no other process may have begun the same call. */
  claim(db: Db): Promise<void>;
  keep(db: Db, answer: unknown): Promise<void>;
  end(): void;
};

export function beginIdempotentCall(
  ctx: Context,
  caller: string,
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
      const kept = await find(database.reads);
      if (!kept) return undefined;
      if (!tokens.isDigest(kept.input_hash, digestPurpose, inputText)) throw IDEMPOTENCY_KEY_REUSED();
      return { answer: JSON.parse(unseal(kept.sealed_answer, sealingKeys())) as unknown };
    },
    async claim(db) {
      // The lock goes with the transaction, so a process that is killed holds up nobody.
      const { rows } = await sql<{
        free: boolean;
      }>`select pg_try_advisory_xact_lock(hashtextextended(${keyHash}, 0)) as free`.execute(db);
      if (!rows[0]?.free || (await find(db))) throw IDEMPOTENCY_KEY_IN_USE({ retryAfterSeconds: 1 });
    },
    async keep(db, answer) {
      const row = {
        operation,
        input_hash: tokens.digest(digestPurpose, inputText),
        sealed_answer: seal(JSON.stringify(answer), sealingKeys()[0]),
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

function seal(text: string, key: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Opens it by whichever key it was sealed with: the service's own may have changed since. */
function unseal(box: Buffer, [key, ...others]: [Buffer, ...Buffer[]]): string {
  try {
    return open(box, key);
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined) throw error;
    return unseal(box, [next, ...rest]);
  }
}

function open(box: Buffer, key: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, 12));
  decipher.setAuthTag(box.subarray(12, 28));
  return Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString('utf8');
}
