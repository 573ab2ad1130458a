import type { CallOptions, WithResponse } from './call-types.ts';
import { checkedApiKey, checkedBaseUrl } from './checked-options.ts';
import { isApiError } from './api-error.ts';
import { bearer, createCaller, noCredentials, type CallDefaults } from './caller.ts';
import { idsOfKey, idsOfSession } from './caller-ids.ts';
import { completeInput } from './complete-input.ts';
import type { ClientSession, SessionOptions } from './client-session.ts';
import type { AuthRefreshAnswer, CompanyChoice, Operations, SignedInResult } from './contract.ts';
import { downloadUrl, toDownload } from './download.ts';
import { methodsOf, type MethodTargets } from './methods.ts';
import type { Input } from './operation-types.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStreams, type EventsTransport } from './streams.ts';
import { encodeFiles } from './upload.ts';
import { readSessionHolder, type WhoAmI } from './who-am-i.ts';

export interface ClientOptions extends SessionOptions, CallDefaults {
  /** The address of the service: `https://api.example.com`, or relative to the page in a browser. */
  baseUrl: string;
  /** For scripts: an API key (`wms_…`) instead of a session. */
  apiKey?: string | undefined;
  /** The transport of events: a WebSocket, or server-sent events if a WebSocket fails (`auto`) or the platform has none. */
  events?: EventsTransport | undefined;
  /** Sends the requests; the platform's `fetch` by default. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** A client of the service. Each operation is a method of its section, such as `client.tasks.create(…)`. */
export interface Client extends Operations {
  /** The current session; null if nobody is signed in, with an API key, or while `loadSession` is running. */
  readonly session: ClientSession | null;
  /** Resolves with the current session after `loadSession` has finished. */
  loadSession(): Promise<ClientSession | null>;
  /** Uses a session from elsewhere; null forgets the current one without ending it on the service. */
  setSession(session: SessionOptions['session']): Promise<void>;
  /**
   * Continues a sign-in that answered a choice of companies. `email` is the address that signed in. The choice can be
   * used once, within 5 minutes. If the address is unknown (Apple), sign in again with the token and `company_id`.
   */
  chooseCompany(
    choice: CompanyChoice,
    place: { email: string; company_id: number },
    options?: CallOptions,
  ): Promise<SignedInResult>;
  /** Who calls: the employee and the company, with a session or an API key, and of a key its scopes and its end. */
  whoAmI(options?: CallOptions): Promise<WhoAmI>;
  /** Ends all event streams and their connection. Calls still work. */
  close(): void;
}

/**
 * Makes a client. Throws a TypeError where `baseUrl` or `apiKey` cannot be one.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://api.example.com', ...keepSessionIn(localStorage) });
 * await client.auth.login({ email, password });
 * for await (const task of client.tasks.list({ company_id: client.session!.company!.company_id })) show(task);
 */
export function createClient(options: ClientOptions): Client {
  const { events = 'auto' } = options;
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const apiKey = checkedApiKey(options.apiKey);
  const fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  const caller = createCaller(fetch, baseUrl, options, () => sessions);
  const sessions = createSessions(apiKey === undefined ? options : {}, async (refresh_token) => {
    const input = Promise.resolve({ refresh_token });
    // Callers that wait for it try again, while the service still answers the same successor: that is for 10 seconds.
    const once = { retries: 0, tryTimeoutMs: Math.min(options.tryTimeoutMs ?? Infinity, 8_000) };
    const { data } = await caller.call('auth.refresh', 'unkeyed mutation', input, once, noCredentials);
    return data as AuthRefreshAnswer;
  });
  const streams = createStreams({ baseUrl, transport: events, caller, sessions });

  const loadIds =
    apiKey === undefined ? idsOfSession(sessions.load) : idsOfKey(async () => methods.apiKeys.getCurrent());
  const complete = async (name: string, words: string, input: object): Promise<object> =>
    completeInput(name, words, input, loadIds);

  const call: MethodTargets['call'] = async (name, words, input, options) => {
    // Of the open operations, only this one needs credentials.
    const credentials = words.includes('open') && name !== 'auth.tokenLogin' ? noCredentials : undefined;
    const prepared = input && complete(name, words, input).then(encodeFiles);
    return caller.call(name, words, Promise.resolve(prepared), options, credentials);
  };

  const methods = methodsOf({
    call: apiKey === undefined ? withSession(call, sessions) : call,
    subscribe: streams.subscribe,
    async download(name, { words, template, mediaType }, input, options = {}) {
      const prepared = complete(name, words, input).then((complete) => ({
        operation: name,
        url: baseUrl + downloadUrl(template, complete),
      }));
      return caller.request({ name }, prepared, options, async (response) =>
        toDownload(name, mediaType, response, options.signal),
      );
    },
  });

  return Object.freeze<Client>({
    ...methods,
    get session() {
      return sessions.current();
    },
    loadSession: sessions.load,
    setSession: sessions.set,
    async chooseCompany({ login_ticket }, place, options) {
      const credentials = { headers: bearer(login_ticket), session: null };
      const input = Promise.resolve(place);
      const { data } = await caller.call('auth.tokenLogin', 'unkeyed mutation', input, options, credentials);
      if (apiKey === undefined) await sessions.begin(data as SignedInResult);
      return data as SignedInResult;
    },
    async whoAmI(options = {}) {
      if (apiKey !== undefined) return methods.apiKeys.getCurrent(options);
      return readSessionHolder(methods, await loadIds('whoAmI'), options);
    },
    close: streams.close,
  });
}

/** Calls that begin, renew or end a session do so with that of the client. */
function withSession(call: MethodTargets['call'], sessions: Sessions): MethodTargets['call'] {
  async function logout(...parameters: Parameters<typeof call>): Promise<WithResponse<unknown>> {
    const session = await sessions.load();
    const result = await call(...parameters).catch((error: unknown): WithResponse<unknown> => {
      // A session that is over need not be ended; if the service is unreachable, the caller can try again.
      if (!isApiError(error) || !session || sessions.current()?.id === session.id) throw error;
      const { status, requestId } = error;
      const response = { status, requestId, rateLimit: undefined, isReplayed: false, headers: new Headers() };
      return { data: { success: true }, response };
    });
    if (session) await sessions.signOut(session);
    return result;
  }

  return async (name, words, input, options) => {
    if (name === 'auth.logout') return logout(name, words, input, options);
    const result = await call(name, words, input, options);
    const { data } = result;
    if (name === 'auth.refresh')
      await sessions.takeRefreshed((input as Input<'auth.refresh'>).refresh_token, data as AuthRefreshAnswer);
    else if (isSignedIn(data)) await sessions.begin(data);
    return result;
  };
}

/** Whether a sign-in answered a choice of companies: continue with `client.chooseCompany`. */
export function isCompanyChoice(answer: SignedInResult | CompanyChoice): answer is CompanyChoice {
  return 'login_ticket' in answer;
}

function isSignedIn(answer: unknown): answer is SignedInResult {
  return typeof answer === 'object' && answer !== null && 'access_token' in answer && 'employee' in answer;
}
