import { createHash } from 'node:crypto';

/* Signed statements as text: what seals, retention and erasures have in common. */

export const hashStatement = (statement: string): string => createHash('sha256').update(statement).digest('base64url');

/** The payload of a statement whose signature is checked elsewhere; undefined if it is none. */
export function payloadOf<Payload>(statement: string): Partial<Payload> | undefined {
  try {
    const text = Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString();
    return JSON.parse(text) as Partial<Payload>;
  } catch {
    return undefined;
  }
}
