import { testEvent, toData } from '../features/webhooks/event-types.ts';
import { unsealSecret } from '../features/webhooks/secrets.ts';
import { toIso } from '../kernel/wire/iso.ts';
import type { Clock } from '../platform/clock.ts';
import { AddressRefused, type OutboundAddresses } from '../platform/outbound-addresses.ts';
import { postOutbound, type OutboundAnswer } from '../platform/post-outbound.ts';
import type { Tokens } from '../platform/tokens.ts';
import type { WebhookSigner } from '../platform/webhook-signature.ts';
import type { ClaimedMessage } from './claims.ts';

/** What came of an attempt: an answer, or why there is none. */
export type Sent = OutboundAnswer | { error: string };

type Needed = { clock: Clock; tokens: Tokens; outbound: OutboundAddresses; signer: WebhookSigner };

/** The longest that an attempt takes, from the look-up of the name to the last byte that is read of the answer. */
const sendWithinMs = 15_000;

/**
 * Sends a message once. Rejects only if `stopping` aborts. Errors name neither the URL, which may hold a secret, nor an address.
 */
export async function sendMessage(message: ClaimedMessage, needed: Needed, stopping: AbortSignal): Promise<Sent> {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, sendWithinMs);
  stopping.addEventListener('abort', end);
  try {
    stopping.throwIfAborted();
    return await Promise.race([post(message, needed, over.signal), untilAborted(over.signal)]);
  } catch (error) {
    stopping.throwIfAborted();
    if (over.signal.aborted) return { error: `No whole answer came within ${sendWithinMs / 1000} seconds` };
    return { error: reasonOf(error) };
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', end);
  }
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the time is over')));
  });

async function post(message: ClaimedMessage, needed: Needed, signal: AbortSignal): Promise<OutboundAnswer> {
  const { clock, outbound, signer } = needed;
  const secrets = await unsealSecrets(message, needed.tokens);
  const url = new URL(message.url);
  const addresses = await outbound.resolve(url, signal);
  const body = bodyOf(message);
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'work-management-service',
    'webhook-id': message.publicId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signer.sign({ id: message.publicId, timestamp, body }, secrets),
  };
  return postOutbound(url, addresses, { headers, body, signal });
}

/** The same bytes at each attempt. */
function bodyOf({ type, at, stream, sequence, payload }: ClaimedMessage): string {
  const place = type === testEvent ? {} : { stream, sequence };
  return JSON.stringify({ type, timestamp: toIso(at), ...place, data: toData(type, payload) });
}

class SecretUnreadable extends Error {
  override name = 'SecretUnreadable';
}

async function unsealSecrets(message: ClaimedMessage, tokens: Tokens): Promise<string[]> {
  const { companyId, sealedSecret, sealedPreviousSecret } = message;
  const sealed = sealedPreviousSecret === null ? [sealedSecret] : [sealedSecret, sealedPreviousSecret];
  try {
    return await Promise.all(sealed.map((one) => unsealSecret(tokens, companyId, one)));
  } catch (error) {
    throw new SecretUnreadable('The secret cannot be read any more: rotate it', { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SecretUnreadable) return error.message;
  if (error instanceof AddressRefused) return `The URL ${error.message}`;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `No answer came: ${code}` : 'No answer came';
}
