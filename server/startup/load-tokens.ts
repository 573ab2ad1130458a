import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { getOrCreateKeys, keysFile } from '../commands/keys.ts';
import type { Config } from '../config.ts';
import { createTokens, type Tokens } from '../platform/tokens.ts';
import { CannotStart } from './cannot-start.ts';

/**
 * Loads the keys that sign tokens: those of AUTH_KEYS, or those of the data folder, which are created at the first
 * start.
 */
export async function loadTokens({ AUTH_KEYS: given }: Config, dataFolder: string): Promise<Tokens> {
  if (given !== undefined)
    return createTokens(given).catch((error: unknown) => {
      const told = error instanceof Error && error.message.startsWith('AUTH_KEYS') ? error.message : undefined;
      throw new CannotStart(
        `Bad setting: ${told ?? 'AUTH_KEYS holds a key that is no Ed25519 private key (make one with `npm run keys`)'}.`,
      );
    });
  const file = keysFile(dataFolder);
  try {
    return await createTokens(await getOrCreateKeys(file));
  } catch (error) {
    if (!existsSync(file)) throw error;
    throw new CannotStart(
      `The keys in ${file} cannot be used: restore that file, or delete it and everybody signs in again.`,
    );
  }
}

/** For commands: what new keys sign is not the service's, and they know none of what it has signed. */
export async function loadExistingTokens(config: Config): Promise<Tokens> {
  const folder = resolve(config.DATA_DIR);
  if (config.AUTH_KEYS === undefined && !existsSync(keysFile(folder)))
    throw new CannotStart(`There are no keys in ${folder}: set AUTH_KEYS or DATA_DIR as for the service.`);
  return loadTokens(config, folder);
}
