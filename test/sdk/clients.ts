import { onTestFinished } from 'vitest';
import { createClient, isFault, type Client, type ClientOptions, type FaultCode } from 'work-management-client';
import type { TokenPair } from '../support/actor.ts';

/** A client for the time of one test. */
export function connect(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ baseUrl, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** A token pair from elsewhere, as `createClient` takes it. */
export function sessionOf({ access_token: accessToken, refresh_token: refreshToken }: TokenPair) {
  return { accessToken, refreshToken };
}

/** What a call that must fail says of it. */
export async function codeOf(call: Promise<unknown>): Promise<FaultCode> {
  return (await faultOf(call)).code;
}

export async function faultOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!isFault(error)) throw new Error('the call did not fail with a fault', { cause: error });
  return error;
}
