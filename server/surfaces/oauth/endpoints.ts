import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import { INVALID_TOKEN, toApiError, UNSUPPORTED_MEDIA_TYPE } from '../../errors/errors.ts';
import { findClient, isDocumentUrl, registerClient } from '../../features/oauth/clients.ts';
import { OAuthError } from '../../features/oauth/errors.ts';
import { exchangeCode, refreshGrant, revokeToken, type TokenAnswer } from '../../features/oauth/grants.ts';
import { checkResource, readScopes } from '../../features/oauth/request.ts';
import type { Context, Services } from '../../kernel/context.ts';
import { countAuthFailure, countRequest } from '../../kernel/rate-limit.ts';
import type { ReadBody } from '../http/body.ts';
import { errorHeaders, fromFastify, logFailure } from '../http/problem.ts';
import { requestInfo } from '../http/request-info.ts';

const bodyBytesMax = 64 * 1024;

type Form = Partial<Record<string, string>>;
type Answer = { status: number; body: object };

/** The endpoints for programs: they register, exchange, renew and revoke. */
export async function registerEndpoints(
  app: FastifyInstance,
  services: Services,
  { readBody }: { readBody: ReadBody },
): Promise<void> {
  const serve = (operation: string, answer: (ctx: Context, body: unknown) => Promise<Answer>) =>
    async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const ctx: Context = { services, request: { ...requestInfo(request, reply), transport: 'rest' } };
      try {
        await countCall(ctx, operation);
        const { status, body } = await answer(ctx, request.body);
        return await send(reply, status, body);
      } catch (error) {
        return sendError(request, reply, await countFailure(ctx, operation, error));
      }
    };

  await app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser('application/x-www-form-urlencoded', (request, payload, done) =>
      readBody(request, payload, bodyBytesMax, (error, text = '') => done(error, new URLSearchParams(text))),
    );
    forms.setErrorHandler((error, request, reply) => sendError(request, reply, asForm(fromFastify(error as never))));
    forms.post(
      '/oauth/token',
      serve('oauth.token', async (ctx, body) => ({ status: 200, body: await issueTokens(ctx, readForm(body)) })),
    );
    forms.post(
      '/oauth/revoke',
      serve('oauth.revoke', async (ctx, body) => {
        const form = readForm(body);
        await revokeToken(ctx, needed(form, 'token'), needed(form, 'client_id'));
        return { status: 200, body: {} };
      }),
    );
  });
  await app.register(async (json) => {
    json.setErrorHandler((error, request, reply) => sendError(request, reply, fromFastify(error as never)));
    json.post(
      '/oauth/register',
      { bodyLimit: bodyBytesMax },
      serve('oauth.register', async (ctx, body) => {
        await services.limits.newClients.consume(ctx.request.network);
        const now = services.clock.now();
        return { status: 201, body: registered(await registerClient(services.database.db, body, now), now) };
      }),
    );
  });
}

const registered = (client: Awaited<ReturnType<typeof registerClient>>, now: Date) => ({
  client_id: client.clientId,
  client_id_issued_at: Math.floor(now.getTime() / 1000),
  client_name: client.name,
  redirect_uris: client.redirectUris,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

async function issueTokens(ctx: Context, form: Form): Promise<TokenAnswer> {
  const grantType = needed(form, 'grant_type');
  if (grantType !== 'authorization_code' && grantType !== 'refresh_token')
    throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  const clientId = needed(form, 'client_id');
  // What is issued is for one resource, also where it is not named again.
  if (form['resource'] !== undefined) checkResource(ctx.services.settings, form['resource']);
  try {
    if (grantType === 'refresh_token') {
      const scopes = form['scope'] === undefined ? [] : readScopes(form['scope']);
      return await refreshGrant(ctx, { refreshToken: needed(form, 'refresh_token'), clientId, scopes });
    }
    return await exchangeCode(ctx, {
      clientId,
      code: needed(form, 'code'),
      redirectUri: needed(form, 'redirect_uri'),
      codeVerifier: needed(form, 'code_verifier'),
    });
  } catch (error) {
    throw (await isUnknownClient(ctx, clientId, error)) ? unknownClient() : error;
  }
}

const unknownClient = () => new OAuthError('invalid_client', 'client_id is no client that has registered');

/** A client that was deleted registers again if it is told so. */
async function isUnknownClient({ services }: Context, clientId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof OAuthError) || error.code !== 'invalid_grant' || isDocumentUrl(clientId)) return false;
  return (await findClient(services.database.db, clientId, services.clock.now())) === undefined;
}

/** A parameter that is given twice may mean something else to another reader of the request. PostgreSQL takes no NUL character. */
function readForm(body: unknown): Form {
  const given = body instanceof URLSearchParams ? body : new URLSearchParams();
  const twice = [...given.keys()].find((name) => given.getAll(name).length > 1);
  if (twice !== undefined) throw new OAuthError('invalid_request', 'A parameter is given more than once');
  if ([...given.values()].some((value) => value.includes('\0')))
    throw new OAuthError('invalid_request', 'A parameter has a NUL character');
  // An empty parameter counts as absent.
  return Object.fromEntries([...given].filter(([, value]) => value !== ''));
}

function needed(form: Form, name: string): string {
  const value = form[name];
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  return value;
}

/** Counts a request of a network, as those of operations that are open to all. */
export async function countCall({ services, request }: Context, operation: string): Promise<void> {
  const keys = { caller: `network ${request.network}`, person: undefined, company: undefined };
  await countRequest(services.limits, request, operation, keys);
}

/** Counts a wrong secret against its network; returns the error for the answer. */
async function countFailure({ services, request }: Context, operation: string, error: unknown): Promise<unknown> {
  if (!(error instanceof OAuthError) || !['invalid_grant', 'invalid_client'].includes(error.code)) return error;
  const wrong = INVALID_TOKEN();
  const counted = await countAuthFailure(services.limits, wrong, { network: request.network, operation });
  return counted === wrong ? error : counted;
}

/** The API error asks for JSON. */
function asForm(error: ApiError): ApiError | OAuthError {
  if (error.definition !== UNSUPPORTED_MEDIA_TYPE) return error;
  const sentence = 'Send a form in UTF-8, not compressed, as `Content-Type: application/x-www-form-urlencoded`.';
  return new OAuthError('invalid_request', sentence);
}

async function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<FastifyReply> {
  if (error instanceof OAuthError) return send(reply, 400, failed(error.code, error.message));
  const apiError: ApiError = toApiError(error);
  logFailure(request, apiError);
  const { status } = apiError.definition;
  void reply.headers(errorHeaders(apiError));
  const code =
    status === 429 || status === 503 ? 'temporarily_unavailable' : status < 500 ? 'invalid_request' : 'server_error';
  return send(reply, status, failed(code, apiError.message));
}

const failed = (error: string, sentence: string) => ({
  error,
  // RFC 6749 allows these characters.
  error_description: sentence.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, ''),
});

const send = (reply: FastifyReply, status: number, body: object) =>
  reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
