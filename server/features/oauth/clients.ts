import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { name } from '../../kernel/wire/fields.ts';
import type { Services } from '../../kernel/context.ts';
import { AddressRefused } from '../../platform/outbound-addresses.ts';
import { getOutbound } from '../../platform/post-outbound.ts';
import { OAuthError, type OAuthErrorCode } from './errors.ts';
import { isRedirectUri } from './redirect-uris.ts';

/*
 * Clients: programs that ask people for access. They are public, so none has a secret, and what they say of themselves is not
 * verified: the consent page shows where a person is sent back to. A client is known in one of two ways:
 *
 * - It has registered itself (RFC 7591). It is kept for a week, and for more than a year after each consent.
 * - Its identifier is the https URL of a document that says the same (client id metadata document), which is fetched and kept for an
 *   hour. Nobody has signed in then, so the document is at a public address, whatever networks webhooks may lead to.
 */

export type Client = { clientId: string; name: string; redirectUris: string[] };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const registeredForMs = 7 * dayMs;
const consentedForMs = 400 * dayMs;
const documentForMs = hourMs;

const fetchWithinMs = 5_000;
const documentBytesMax = 16 * 1024;

/** What a client says of itself; other members are ignored. */
const Metadata = z.object({
  client_name: name({ max: 100 }).optional(),
  redirect_uris: z
    .array(z.string().refine(isRedirectUri, 'must be https, http on the loopback, or a private scheme with a dot'))
    .min(1)
    .max(20),
});

function readMetadata(said: unknown): Omit<Client, 'clientId'> {
  const { data, error } = Metadata.safeParse(said);
  if (data) return { name: data.client_name ?? 'A program without a name', redirectUris: data.redirect_uris };
  const [{ path, message } = { path: [], message: 'must be an object' }] = error.issues;
  const code: OAuthErrorCode = path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
  throw new OAuthError(code, [path.join('.'), message].filter((part) => part !== '').join(' '));
}

export async function registerClient(db: Db, said: unknown, now: Date): Promise<Client> {
  const client = { clientId: `wmsc_${randomBytes(16).toString('base64url')}`, ...readMetadata(said) };
  await storeClient(db, client, { now, forMs: registeredForMs });
  return client;
}

/** A client that is known; one with a document only within the hour. */
export async function findClient(db: Db, clientId: string, now: Date): Promise<Client | undefined> {
  const row = await db
    .selectFrom('oauth_clients')
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .select(['client_id', 'name', 'redirect_uris'])
    .executeTakeFirst();
  return row && { clientId: row.client_id, name: row.name, redirectUris: row.redirect_uris };
}

/** Keeps a client that has registered itself for as long as what it was granted, and longer. */
export async function keepClient(db: Db, clientId: string, now: Date): Promise<void> {
  if (isDocumentUrl(clientId)) return;
  await db
    .updateTable('oauth_clients')
    .set({ expires_at: new Date(now.getTime() + consentedForMs) })
    .where('client_id', '=', clientId)
    .execute();
}

async function storeClient(db: Db, client: Client, { now, forMs }: { now: Date; forMs: number }): Promise<void> {
  const { clientId, redirectUris } = client;
  const said = { name: client.name, redirect_uris: redirectUris, expires_at: new Date(now.getTime() + forMs) };
  await db
    .insertInto('oauth_clients')
    .values({ client_id: clientId, ...said, created_at: now })
    .onConflict((conflict) => conflict.column('client_id').doUpdateSet(said))
    .execute();
}

/** A URL with a path, in its normal form. Plain http is refused where the document is fetched, but for tests. */
export function isDocumentUrl(clientId: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(clientId) || /[\\#]/.test(clientId) || !URL.canParse(clientId)) return false;
  const url = new URL(clientId);
  return url.href === clientId && url.pathname !== '/' && url.username === '' && url.password === '';
}

type Needed = Pick<Services, 'database' | 'clock' | 'clientDocuments'>;

/** Fetches the document of a client, and keeps what it says. Throws `invalid_client` with a sentence for people. */
export async function fetchClient({ database, clock, clientDocuments }: Needed, clientId: string): Promise<Client> {
  const said = await fetchDocument(new URL(clientId), clientDocuments);
  if (said['client_id'] !== clientId) throw refused('names another client_id than its own address');
  if ('client_secret' in said || (said['token_endpoint_auth_method'] ?? 'none') !== 'none')
    throw refused('asks for a client secret: only public clients are served');
  const client = { clientId, ...readMetadata(said) };
  await storeClient(database.db, client, { now: clock.now(), forMs: documentForMs });
  return client;
}

async function fetchDocument(url: URL, outbound: Services['clientDocuments']): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(fetchWithinMs);
  let answer: Awaited<ReturnType<typeof getOutbound>>;
  try {
    const addresses = await outbound.resolve(url, signal);
    answer = await getOutbound(url, addresses, { accept: 'application/json', bytesMax: documentBytesMax + 1, signal });
  } catch (error) {
    throw refused(error instanceof AddressRefused ? error.message : 'could not be fetched');
  }
  const { status, bytes } = answer;
  if (status !== 200) throw refused(`was answered with the status ${status}`);
  if (bytes.length > documentBytesMax) throw refused(`is longer than ${documentBytesMax} bytes`);
  try {
    const said: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof said === 'object' && said !== null && !Array.isArray(said)) return said as Record<string, unknown>;
  } catch {
    // It is no JSON.
  }
  throw refused('is no JSON object');
}

const refused = (why: string): OAuthError => new OAuthError('invalid_client', `The document of the client ${why}`);
