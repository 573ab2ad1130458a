import { createHash, randomBytes } from 'node:crypto';
import { authenticate } from '../../server/kernel/authentication.ts';
import type { Caller as Authenticated, RequestInfo } from '../../server/kernel/context.ts';
import type { Actor, Answer, Caller } from './actor.ts';
import type { Service } from './service.ts';

/* A client of OAuth as another program would be one: it knows the RFCs and nothing of the service. */

export const redirectUri = 'https://client.example/callback';
export const defaultScopes = ['time:read', 'time:write'];

type Form = Record<string, string | undefined>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

export function newVerifier(): { code_verifier: string; code_challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { code_verifier: verifier, code_challenge: sha256(verifier) };
}

/** Posts a form, without what is undefined in it. */
export async function postForm({ url }: { url: string }, path: string, form: Form | string): Promise<Answer> {
  const given = typeof form === 'string' ? form : Object.entries(form).filter(([, value]) => value !== undefined);
  const body = new URLSearchParams(given as string);
  const response = await fetch(`${url}${path}`, { method: 'POST', body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export async function registerClient({ anonymous }: Service, metadata: object = {}): Promise<string> {
  const said = { client_name: 'Planner', redirect_uris: [redirectUri], ...metadata };
  const { status, body } = await anonymous.post('/oauth/register', said);
  if (status !== 201) throw new Error(`no client was registered: ${JSON.stringify(body)}`);
  return body.client_id;
}

/** What a client asks a person for, as the query of the page. */
export const authorizeQuery = (clientId: string, more: Form = {}): string => {
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: newVerifier().code_challenge,
    code_challenge_method: 'S256',
    resource: 'https://api.example.test/mcp',
    state: 'a state',
    ...more,
  };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return `/oauth/authorize?${new URLSearchParams(given).toString()}`;
};

/** Has a person consent; returns the form that exchanges the code. */
export async function consent(
  actor: Caller,
  clientId: string,
  more: { scopes?: string[]; redirect_uri?: string } = {},
): Promise<Record<string, string>> {
  const { code_verifier, code_challenge } = newVerifier();
  const asked = { client_id: clientId, redirect_uri: redirectUri, scopes: defaultScopes, ...more };
  const body = { ...asked, code_challenge, code_challenge_method: 'S256' };
  const answer = await actor.post('/api/oauth/authorizations/', body);
  if (answer.status !== 200) throw new Error(`nobody consented: ${JSON.stringify(answer.body)}`);
  const code = new URL(answer.body.redirect_to).searchParams.get('code')!;
  const form = { client_id: clientId, redirect_uri: asked.redirect_uri, code, code_verifier };
  return { grant_type: 'authorization_code', ...form };
}

export type Grant = {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
  clientId: string;
};

/** The whole flow, for a client of its own. */
export async function grantTo(service: Service, actor: Actor, scopes = defaultScopes): Promise<Grant> {
  const clientId = await registerClient(service);
  const { status, body } = await postForm(service, '/oauth/token', await consent(actor, clientId, { scopes }));
  if (status !== 200) throw new Error(`the code was refused: ${JSON.stringify(body)}`);
  return { ...body, clientId };
}

export const refresh = (
  service: Service,
  { clientId, refresh_token }: Pick<Grant, 'clientId' | 'refresh_token'>,
  more: Form = {},
) => postForm(service, '/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token, ...more });

/** Whom a token lets in at /mcp. */
export function authenticateAt(
  { app: { services } }: Service,
  bearer: string,
  transport: RequestInfo['transport'] = 'mcp',
): Promise<Authenticated> {
  const request: RequestInfo = {
    id: 'a-request',
    transport,
    network: '127.0.0.1',
    userAgent: null,
    bearer,
    refreshToken: undefined,
    idempotencyKey: undefined,
    setHeader() {},
    noteAuthenticated() {},
  };
  return authenticate({ services, request });
}

export const isAccepted = (service: Service, token: string): Promise<boolean> =>
  authenticateAt(service, token).then(
    () => true,
    () => false,
  );
