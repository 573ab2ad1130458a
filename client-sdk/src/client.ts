import type { CallOptions, Page, WriteOptions } from './call-types.ts';
import { bearer, createCaller, noProof, type CallDefaults } from './caller.ts';
import type { AuthRefreshAnswer, CompanyChoice, Operations, SignedInResult } from './contract.ts';
import { downloadUrl, toDownload } from './download.ts';
import { isFault } from './fault.ts';
import { downloads, operations } from './operations.ts';
import { paged } from './paged.ts';
import { createSessions, type ClientSession, type SessionOptions } from './session.ts';
import { createStreams, type EventsWay } from './stream.ts';

export interface ClientOptions extends SessionOptions, CallDefaults {
  /** Where the service is: `https://api.example.com`, or relative to the page in a browser. */
  baseUrl: string;
  /** For scripts: an API key (`wms_…`) instead of a session. */
  apiKey?: string | undefined;
  /** How events come: over a WebSocket, or as server-sent events where one does not get through (`auto`). */
  events?: EventsWay | undefined;
  /** Sends the requests; the platform's own `fetch` unless given. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** A client of the service. Each operation is a method of its section, such as `client.tasks.create(…)`. */
export interface Client extends Operations {
  /** The present session; null where nobody is signed in, with an API key, or while `loadSession` is still at work. */
  readonly session: ClientSession | null;
  /** Answers the present session once `loadSession` has answered. */
  loadSession(): Promise<ClientSession | null>;
  /** Takes over a session from elsewhere; null forgets the present one without ending it on the service. */
  setSession(session: SessionOptions['session']): Promise<void>;
  /**
   * Goes on with a sign-in that answered a choice of companies. `email` is the address that signed in. The choice can be
   * used once, for 5 minutes. Where the address is not known (Apple), sign in again with the token and `company_id`.
   */
  chooseCompany(choice: CompanyChoice, place: { email: string; company_id: number }): Promise<SignedInResult>;
  /** Ends all streams of events and their connection. Calls go on working. */
  close(): void;
}

/**
 * Makes a client.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://api.example.com', ...keepSessionIn(localStorage) });
 * await client.auth.login({ email, password });
 * for await (const task of client.tasks.list({ company_id: client.session!.company!.company_id })) show(task);
 */
export function createClient(options: ClientOptions): Client {
  const { apiKey } = options;
  const baseUrl = absolute(options.baseUrl);
  const fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  const caller = createCaller(fetch, baseUrl, options, () => sessions);
  const sessions = createSessions(
    apiKey === undefined ? options : {},
    async (refreshToken, idempotencyKey) =>
      (await caller.call(
        'auth.refresh',
        'mutation',
        { refresh_token: refreshToken },
        // Whoever waits for it tries again.
        { idempotencyKey, retries: 0 },
        noProof,
      )) as AuthRefreshAnswer,
  );
  const streams = createStreams({ baseUrl, way: options.events ?? 'auto', caller, sessions });

  async function signIn(answer: unknown): Promise<void> {
    if (apiKey === undefined && isSignedIn(answer)) await sessions.begin(answer);
  }

  async function call(name: string, words: string, input: unknown, options?: WriteOptions): Promise<unknown> {
    const kind = words.includes('query') ? 'query' : 'mutation';
    const isOpen = words.includes('open');
    // The one open operation that asks for a proof.
    const proof = isOpen && name !== 'auth.tokenLogin' ? noProof : undefined;
    const answer = await caller.call(name, kind, input, options, proof);
    if (isOpen) await signIn(answer);
    return answer;
  }

  async function refresh(input: { refresh_token: string }, options?: WriteOptions): Promise<AuthRefreshAnswer> {
    const pair = (await call('auth.refresh', 'open mutation', input, options)) as AuthRefreshAnswer;
    await sessions.takeRefreshed(input.refresh_token, pair);
    return pair;
  }

  async function logout(options?: WriteOptions): Promise<unknown> {
    const session = await sessions.load();
    try {
      await call('auth.logout', 'mutation', undefined, options);
    } catch (error) {
      // What is over already need not be ended. Where the service cannot be reached, logging out can be tried again.
      if (!isFault(error, 'SESSION_ENDED')) throw error;
    }
    if (session) await sessions.signOut(session);
    return { success: true };
  }

  function methodOf(name: string, words: string): (...parameters: never[]) => unknown {
    // An input whose every field may be left out may be left out itself, but the service wants to see one.
    const split = ([first, second]: unknown[]): [unknown, object | undefined] =>
      words.includes('bare') ? [undefined, first as object] : [first ?? {}, second as object];
    return (...parameters: unknown[]) => {
      const [input, options] = split(parameters);
      if (words === 'subscription') return streams.follow(name, input, options);
      const first = call(name, words, input, options);
      if (!words.includes('paged')) return first;
      const read = (page: number) =>
        call(name, words, { ...(input as object), page }, options) as Promise<Page<unknown>>;
      return paged(first as Promise<Page<unknown>>, read);
    };
  }

  const made: Record<string, Record<string, unknown>> = {};
  for (const [section, its] of Object.entries(operations)) {
    made[section] = Object.fromEntries(
      Object.entries(its).map(([verb, words]) => [verb, methodOf(`${section}.${verb}`, words)]),
    );
  }
  for (const [name, template] of Object.entries(downloads)) {
    const [section, verb] = name.split('.') as [string, string];
    made[section]![verb] = (input: Record<string, unknown>, options: CallOptions = {}) =>
      caller.request({ operation: name, url: baseUrl + downloadUrl(template, input) }, options, async (response) =>
        toDownload(name, response, options.signal),
      );
  }
  Object.assign(made['auth']!, { refresh, logout });

  return Object.freeze({
    ...(made as unknown as Operations),
    get session() {
      return sessions.current();
    },
    loadSession: () => sessions.load(),
    setSession: (session: SessionOptions['session']) => sessions.set(session),
    async chooseCompany({ login_ticket }: CompanyChoice, place: { email: string; company_id: number }) {
      const proof = { headers: bearer(login_ticket), session: null };
      const answer = await caller.call('auth.tokenLogin', 'mutation', place, {}, proof);
      await signIn(answer);
      return answer as SignedInResult;
    },
    close: () => streams.close(),
  });
}

/** Whether a sign-in asks which company is meant: go on with `client.chooseCompany`. */
export function isCompanyChoice(answer: SignedInResult | CompanyChoice): answer is CompanyChoice {
  return 'login_ticket' in answer;
}

function isSignedIn(answer: unknown): answer is SignedInResult {
  return typeof answer === 'object' && answer !== null && 'access_token' in answer && 'employee' in answer;
}

function absolute(baseUrl: string): string {
  const { location } = globalThis as { location?: { href: string } };
  const { origin, pathname } = new URL(baseUrl, location?.href);
  return origin + pathname.replace(/\/+$/, '');
}
