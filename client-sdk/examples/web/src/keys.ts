/** Idempotency keys of what somebody writes. */
export type Keys = {
  /** The same content gets the same key, so that a retry after a lost answer writes nothing twice. */
  of(content: unknown): string;
  /** It was written: the same once more is another one. */
  clear(): void;
};

export function createKeys(): Keys {
  const keys = new Map<string, string>();
  return {
    of(content) {
      const name = JSON.stringify(content);
      const key = keys.get(name) ?? randomKey();
      keys.set(name, key);
      return key;
    },
    clear: () => keys.clear(),
  };
}

/** `crypto.randomUUID` exists on pages with HTTPS alone. */
const randomKey = (): string => Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
