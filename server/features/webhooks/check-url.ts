import { invalid } from '../../errors/errors.ts';
import { AddressRefused, type OutboundAddresses } from '../../platform/outbound-addresses.ts';

const withinMs = 5_000;

/**
 * Refuses a URL that leads to an address which is not public. Call it before the first statement: it asks name servers. A name
 * that nobody knows yet passes, because each attempt checks again.
 */
export async function checkUrl(outbound: OutboundAddresses, url: string): Promise<void> {
  try {
    await outbound.resolve(new URL(url), AbortSignal.timeout(withinMs));
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    if (!error.isUnresolved) throw invalid(['url'], error.message, 'invalid_value');
  }
}
