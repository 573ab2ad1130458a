import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { apiKeyPrefix } from '../../kernel/authentication.ts';

/**
 * A new key: the prefix, 256 random bits, and a CRC-32 of both, so that a scanner of leaked secrets tells a key from what
 * looks like one without asking the service. Keys of before the checksum have none. docs/security.md gives the form.
 */
export const newApiKey = (): string => withChecksum(`${apiKeyPrefix}${randomBytes(32).toString('base64url')}`);

/** A secret with its CRC-32 behind it, in six characters. */
export function withChecksum(secret: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(secret));
  return secret + checksum.toString('base64url');
}
