import { CompactEncrypt, compactDecrypt } from 'jose';

/*
 * Text that the database must not be able to read: a JSON Web Encryption in its compact form, with a key that `Tokens.deriveKeys`
 * makes.
 */

const jweHeader = { alg: 'dir', enc: 'A256GCM' };
const jwePrefix = Buffer.from(Buffer.from(JSON.stringify(jweHeader)).toString('base64url'));

export const isSealed = (bytes: Buffer): boolean => bytes.subarray(0, jwePrefix.length).equals(jwePrefix);

export async function seal(text: string, key: Buffer): Promise<Buffer> {
  const jwe = await new CompactEncrypt(Buffer.from(text)).setProtectedHeader(jweHeader).encrypt(key);
  return Buffer.from(jwe);
}

export function unseal(sealed: Buffer, keys: [Buffer, ...Buffer[]]): Promise<string> {
  return tryKeys(keys, async (key) => {
    const { plaintext } = await compactDecrypt(new Uint8Array(sealed), key);
    return Buffer.from(plaintext).toString();
  });
}

/** Tries each key: the text may have been sealed before the service's own key was rotated. */
export async function tryKeys<Text>(
  [key, ...others]: [Buffer, ...Buffer[]],
  open: (key: Buffer) => Promise<Text> | Text,
): Promise<Text> {
  try {
    return await open(key);
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined) throw error;
    return tryKeys([next, ...rest], open);
  }
}
