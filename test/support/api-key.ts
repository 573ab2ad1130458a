import { createCallerWith, type Actor, type Caller } from './actor.ts';

/** Somebody who calls with an API key. */
export type KeyHolder = Caller & { _id: number; key: string };

/** Makes an API key of somebody, and a caller who has nothing else. */
export async function makeKey(
  { url }: { url: string },
  by: Actor,
  scopes: readonly string[],
  more: object = {},
): Promise<KeyHolder> {
  const { status, body } = await by.post('/api/api-keys/', { name: 'Script', scopes, ...more });
  if (status !== 200) throw new Error(`no key was made: ${JSON.stringify(body)}`);
  return { ...callerWithKey(url, body.key), _id: body._id, key: body.key };
}

export const callerWithKey = (url: string, key: string): Caller =>
  createCallerWith(url, { authorization: `Bearer ${key}` });
