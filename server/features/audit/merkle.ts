import { createHash } from 'node:crypto';

/* The Merkle tree hash of RFC 6962, section 2.1, over SHA-256. */

const hash = (prefix: number, ...parts: Buffer[]): Buffer =>
  parts.reduce((made, part) => made.update(part), createHash('sha256').update(Buffer.of(prefix))).digest();

export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return createHash('sha256').digest();
  if (leaves.length === 1) return hash(0, leaves[0]!);
  // The largest power of two below the number of leaves.
  const half = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return hash(1, merkleRoot(leaves.slice(0, half)), merkleRoot(leaves.slice(half)));
}
