import { createCaller, type Actor, type Caller } from './actor.ts';

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

export function callerWithKey(url: string, key: string): Caller {
  const caller = createCaller(url);
  const send: Caller['send'] = (method, path, body, options) =>
    caller.send(method, path, body, { headers: { authorization: `Bearer ${key}`, ...options?.headers } });
  return {
    ...caller,
    send,
    get: (path, options) => send('GET', path, undefined, options),
    post: (path, body, options) => send('POST', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    delete: (path, body, options) => send('DELETE', path, body, options),
  };
}
