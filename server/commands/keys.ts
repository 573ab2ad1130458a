import { join } from 'node:path';
import { generateKeys } from '../platform/signing-keys.ts';
import { createPrivate, readPrivate } from '../platform/private-file.ts';
import { readFlags } from './support/read-flags.ts';

/**
 * The key set that signs tokens, created at the first start and stored in the data folder, so that sessions outlive a
 * restart. In production it comes from AUTH_KEYS; this file, run as a command, prints a new one.
 */
export async function getOrCreateKeys(file: string): Promise<string> {
  return readPrivate(file) ?? createPrivate(file, await generateKeys());
}

export const keysFile = (folder: string): string => join(folder, 'auth-keys.json');

const usage = `Prints a new set of keys for AUTH_KEYS.

  npm run --silent keys
  npm run keys -- --help`;

if (import.meta.main && readFlags(usage)) process.stdout.write(`${await generateKeys()}\n`);
