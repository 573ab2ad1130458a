import type { ApiDocument, Schema } from './document.ts';
import type { Random } from './random.ts';

/*
 * The identifiers that answers have told, by what they name and by the company that was told, so that requests can name
 * things that are there, things of another company, and things that are nowhere.
 */

const kept = 40;
const missesMax = 4;

/** Words for the same thing: parameters and fields are named by the part that somebody plays. */
const sameAs: Record<string, string> = {
  user: 'employee',
  recipient: 'employee',
  owner: 'employee',
  sender: 'employee',
  collaborator: 'employee',
  pk: 'tasklog',
  log: 'tasklog',
  key: 'apikey',
  newapikey: 'apikey',
  reply_to: 'comment',
  chat: 'comment',
};

/** What a name of a field or parameter names; undefined where it names nothing. */
export function kindOf(name: string, path: string): string | undefined {
  if (name === '_id')
    return kindOf(`${/\/(?!api\/)(\w+?)s?\/(?:[\w-]+\/)?\{_id\}/.exec(path)?.[1] ?? 'thing'}_id`, path);
  if (name in sameAs) return sameAs[name];
  const word = /^(\w+?)_?(?:id|Id|ids|Ids)$/.exec(name)?.[1]?.toLowerCase();
  return word === undefined ? undefined : (sameAs[word] ?? word);
}

export type Knowledge = {
  /** Takes the identifiers out of an answer. */
  learn(company: number, path: string, answer: Schema, value: unknown): void;
  /** Was told that there is no such thing: it may be somebody else's, and is forgotten only when that is told again. */
  miss(company: number, kind: string, identifier: number): void;
  /** An identifier of the given kind: of the company, of another one, or of none. */
  identifier(random: Random, company: number, kind: string): number;
};

export function createKnowledge(document: ApiDocument): Knowledge {
  const pools = new Map<string, number[]>();
  const missed = new Map<string, number>();
  const poolOf = (company: number, kind: string) => {
    const name = `${company} ${kind}`;
    let pool = pools.get(name);
    if (!pool) pools.set(name, (pool = []));
    return pool;
  };

  function add(company: number, kind: string, value: unknown): void {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return;
    const pool = poolOf(company, kind);
    if (pool.includes(value)) return;
    pool.push(value);
    if (pool.length > kept) pool.shift();
  }

  function walk(company: number, path: string, schema: Schema, value: unknown, within: string | undefined): void {
    const { schema: resolved, name = within } = document.resolve(schema);
    for (const option of [...(resolved.anyOf ?? []), ...(resolved.oneOf ?? [])])
      walk(company, path, option as Schema, value, name);
    if (Array.isArray(value))
      return value.slice(0, 50).forEach((one) => walk(company, path, (resolved.items ?? {}) as Schema, one, name));
    if (typeof value !== 'object' || value === null) return;
    for (const [field, part] of Object.entries(value)) {
      const property = resolved.properties?.[field];
      if (property === undefined) continue;
      const kind = field === '_id' && name !== undefined ? kindOf(`${name}_id`, path) : kindOf(field, path);
      if (kind !== undefined) add(company, kind, part);
      else walk(company, path, property as Schema, part, field.replace(/s$/, ''));
    }
  }

  return {
    learn: (company, path, answer, value) => walk(company, path, answer, value, undefined),
    miss(company, kind, identifier) {
      const pool = poolOf(company, kind);
      const at = pool.indexOf(identifier);
      if (at < 0) return;
      const name = `${company} ${kind} ${identifier}`;
      const times = (missed.get(name) ?? 0) + 1;
      missed.set(name, times);
      if (times >= missesMax) pool.splice(at, 1);
    },
    identifier(random, company, kind) {
      const whose = random.weighted({ own: 80, foreign: 10, any: 10 });
      const others = [...pools.keys()].filter((name) => name.endsWith(` ${kind}`) && !name.startsWith(`${company} `));
      const from =
        whose === 'own' ? poolOf(company, kind) : whose === 'foreign' ? others.flatMap((name) => pools.get(name)!) : [];
      return from.length > 0 ? random.pick(from) : random.int(1, 300);
    },
  };
}
