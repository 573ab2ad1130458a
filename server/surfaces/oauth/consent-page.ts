import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toApiError } from '../../errors/errors.ts';
import { fetchClient, findClient, isDocumentUrl, type Client } from '../../features/oauth/clients.ts';
import { OAuthError } from '../../features/oauth/errors.ts';
import { isRegistered, withParameters } from '../../features/oauth/redirect-uris.ts';
import { readRequest, type AuthorizationRequest } from '../../features/oauth/request.ts';
import type { Context, Services } from '../../kernel/context.ts';
import { errorHeaders, logFailure } from '../http/problem.ts';
import { requestInfo } from '../http/request-info.ts';
import { consentPagePolicy } from '../http/security-headers.ts';
import { serveFiles } from '../http/static-document.ts';
import { countCall } from './endpoints.ts';
import { consentPage, refusalPage } from './pages.ts';

const own = join(import.meta.dirname, 'files');
const shared = join(import.meta.dirname, '../docs/files');

/** The time for a person to sign in and consent. */
const consentWithinMs = 10 * 60_000;

type Asked = Partial<Record<string, string>>;

/**
 * The page where a person signs in and says what a client may do. Its script calls operations with tokens that stay in the page, so there
 * is no cookie that another page could use. An error goes back to the client only when its redirect URI is known to be its own.
 */
export function registerConsentPage(app: FastifyInstance, services: Services): void {
  serveFiles(app, '/oauth/assets', own, ['consent.js', 'consent.css']);
  serveFiles(app, '/oauth/assets', shared, ['page.css', 'tokens.css', 'figtree.woff2', 'mark.svg']);

  app.get('/oauth/authorize', { config: { policy: consentPagePolicy } }, async (request, reply) => {
    const ctx: Context = { services, request: { ...requestInfo(request, reply), transport: 'rest' } };
    // A client that opened this page in a window of its own keeps its hold of that window.
    void reply.header('cross-origin-opener-policy', 'unsafe-none');
    try {
      await countCall(ctx, 'oauth.authorize');
      const asked = readQuery(request.query);
      const client = await getClient(ctx, asked['client_id']);
      const redirectUri = readRedirectUri(client, asked['redirect_uri']);
      return await answer(ctx, reply, { asked, client, redirectUri });
    } catch (error) {
      return refuse(reply, error);
    }
  });

  function refuse(reply: FastifyReply, error: unknown): FastifyReply {
    if (error instanceof OAuthError) return html(reply, 400, refusalPage(`${error.message}.`));
    const apiError = toApiError(error);
    logFailure(reply.request, apiError);
    return html(reply.headers(errorHeaders(apiError)), apiError.definition.status, refusalPage(apiError.message));
  }
}

const html = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(text);

function readQuery(query: unknown): Asked {
  const given = Object.entries(query as Record<string, string | string[]>).filter(([, value]) => value !== '');
  if (given.some(([, value]) => Array.isArray(value)))
    throw new OAuthError('invalid_request', 'A parameter is given more than once');
  return Object.fromEntries(given) as Asked;
}

async function getClient({ services, request }: Context, clientId: string | undefined): Promise<Client> {
  if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing');
  const isSane = clientId.length <= 500 && !clientId.includes('\0');
  const isDescribed = isSane && isDocumentUrl(clientId);
  // What a document said has to be known until the person has consented.
  const neededAt = new Date(services.clock.now().getTime() + (isDescribed ? consentWithinMs : 0));
  const client = isSane && (await findClient(services.database.db, clientId, neededAt));
  if (client) return client;
  if (!isDescribed)
    throw new OAuthError('invalid_client', 'The program that sent you here is not known: connect it again');
  await services.limits.newClients.consume(request.network);
  return fetchClient(services, clientId);
}

function readRedirectUri({ redirectUris }: Client, asked: string | undefined): string {
  if (asked === undefined) throw new OAuthError('invalid_request', 'redirect_uri is missing');
  if (!isRegistered(asked, redirectUris))
    throw new OAuthError('invalid_redirect_uri', 'redirect_uri is none that the program has registered');
  return asked;
}

type Checked = { asked: Asked; client: Client; redirectUri: string };

/** Shows the page, or sends the person back with an error. */
async function answer({ services }: Context, reply: FastifyReply, checked: Checked): Promise<FastifyReply> {
  const { asked, client, redirectUri } = checked;
  const { publicUrl } = services.settings;
  const back = (error: string, description: string) =>
    withParameters(redirectUri, { error, error_description: description, state: asked['state'], iss: publicUrl });
  let request: AuthorizationRequest;
  try {
    request = readRequest(services.settings, asked);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return reply.redirect(back(error.code, error.message), 302);
  }
  return html(
    reply,
    200,
    consentPage({
      client,
      redirectUri,
      scopes: request.scopes,
      deny: back('access_denied', 'The person has refused.'),
      authorization: {
        client_id: client.clientId,
        redirect_uri: redirectUri,
        code_challenge: request.codeChallenge,
        code_challenge_method: 'S256',
        state: asked['state'] ?? null,
      },
    }),
  );
}
