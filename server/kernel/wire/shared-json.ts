/*
 * The JSON of objects that are sent to many recipients: it is serialized once and its bytes are shared. It lives as
 * long as the object, which must not be changed.
 */
const jsonOf = new WeakMap<object, Buffer>();

/** Serializes an object for all its recipients. */
export function shareJson(shared: object): Buffer {
  const json = jsonOf.get(shared) ?? Buffer.from(JSON.stringify(shared));
  jsonOf.set(shared, json);
  return json;
}

export const findSharedJson = (shared: object): Buffer | undefined => jsonOf.get(shared);
