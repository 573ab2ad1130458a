import type { CallOptions } from './call-types.ts';
import { checkedApiKey, checkedBaseUrl } from './checked-options.ts';
import { bearer, createCaller, noCredentials, type CallDefaults } from './caller.ts';
import type { ClientSession, SessionOptions } from './client-session.ts';
import type { AuthOperations, AuthRefreshAnswer, CompanyChoice, Operations, SignedInResult } from './contract.ts';
import { downloadUrl, toDownload } from './download.ts';
import { methodsOf } from './methods.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createStreams, type EventsTransport } from './streams.ts';

export interface ClientOptions extends SessionOptions, CallDefaults {
  /** The address of the service: `https://api.example.com`, or relative to the page in a browser. */
  baseUrl: string;
  /** For scripts: an API key (`wms_…`) instead of a session. */
  apiKey?: string | undefined;
  /** The transport of events: a WebSocket, or server-sent events if a WebSocket fails (`auto`). */
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
    // Callers that wait for it try again.
    const answer = await caller.call(
      'auth.refresh',
      'unkeyed mutation',
      { refresh_token },
      { retries: 0 },
      noCredentials,
    );
    return answer as AuthRefreshAnswer;
  });
  const streams = createStreams({ baseUrl, transport: events, caller, sessions });

  async function signIn(answer: unknown): Promise<void> {
    if (apiKey === undefined && isSignedIn(answer)) await sessions.begin(answer);
  }

  const methods = methodsOf({
    async call(name, words, input, options) {
      const isOpen = words.includes('open');
      // Of the open operations, only this one needs credentials.
      const credentials = isOpen && name !== 'auth.tokenLogin' ? noCredentials : undefined;
      const answer = await caller.call(name, words, input, options, credentials);
      await signIn(answer);
      return answer;
    },
    subscribe: streams.subscribe,
    download: (name, [template, mediaType], input, options = {}) =>
      caller.request({ operation: name, url: baseUrl + downloadUrl(template, input) }, options, async (response) =>
        toDownload(name, mediaType, response, options.signal),
      ),
  });

  return Object.freeze<Client>({
    ...methods,
    auth: withSession(methods.auth, sessions),
    get session() {
      return sessions.current();
    },
    loadSession: sessions.load,
    setSession: sessions.set,
    async chooseCompany({ login_ticket }, place, options) {
      const credentials = { headers: bearer(login_ticket), session: null };
      const answer = await caller.call('auth.tokenLogin', 'unkeyed mutation', place, options, credentials);
      await signIn(answer);
      return answer as SignedInResult;
    },
    close: streams.close,
  });
}

/** The operations on the session that the client stores. */
function withSession(auth: AuthOperations, sessions: Sessions): AuthOperations {
  return {
    ...auth,
    async refresh(input, options) {
      const pair = await auth.refresh(input, options);
      await sessions.takeRefreshed(input.refresh_token, pair);
      return pair;
    },
    async logout(options) {
      const session = await sessions.load();
      try {
        await auth.logout(options);
      } catch (error) {
        // A session that is over need not be ended; if the service is unreachable, the caller can try again.
        if (!session || sessions.current()?.id === session.id) throw error;
      }
      if (session) await sessions.signOut(session);
      return { success: true };
    },
  };
}

/** Whether a sign-in answered a choice of companies: continue with `client.chooseCompany`. */
export function isCompanyChoice(answer: SignedInResult | CompanyChoice): answer is CompanyChoice {
  return 'login_ticket' in answer;
}

function isSignedIn(answer: unknown): answer is SignedInResult {
  return typeof answer === 'object' && answer !== null && 'access_token' in answer && 'employee' in answer;
}
