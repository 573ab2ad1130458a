/*
 * The JSON of what is sent to many at once: it is serialised once, and all recipients share the same bytes.
 * It lasts as long as the object that it is made of, which nobody changes.
 */
const jsonOf = new WeakMap<object, Buffer>();

/** Makes the JSON of an object, for all who will be sent it. */
export function shareJson(shared: object): Buffer {
  const json = jsonOf.get(shared) ?? Buffer.from(JSON.stringify(shared));
  jsonOf.set(shared, json);
  return json;
}

export const findSharedJson = (shared: object): Buffer | undefined => jsonOf.get(shared);
