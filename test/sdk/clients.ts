import { onTestFinished } from 'vitest';
import { createClient, isApiError, type Client, type ClientOptions, type ApiErrorCode } from 'work-management-client';
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
export async function codeOf(call: Promise<unknown>): Promise<ApiErrorCode> {
  return (await errorOf(call)).code;
}

export async function errorOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!isApiError(error)) throw new Error('the call did not fail with an API error', { cause: error });
  return error;
}
