import type { Tokens } from '../../platform/tokens.ts';
import type { ExportRow } from './queries.ts';

/*
 * The address of a file is signed, so that a browser or a script downloads it without a token: the company, the export and
 * when it expires, with a keyed digest of the three. Nothing of it is stored.
 */

const purpose = 'export link';

export type Link = { companyId: number; exportId: number };

export function linkOf(
  tokens: Pick<Tokens, 'digest'>,
  row: Pick<ExportRow, 'company_id' | 'export_id' | 'expires_at'>,
): string {
  const said = [row.company_id, row.export_id, row.expires_at.getTime()].join('-');
  return `${said}-${tokens.digest(purpose, said)}`;
}

const form = /^((\d{1,15})-(\d{1,15})-(\d{1,15}))-([\w-]+)$/;

/** What a link says, if this service has signed it and it has not expired. */
export function readLink(tokens: Pick<Tokens, 'isDigest'>, link: string, now: Date): Link | undefined {
  const [, said, companyId, exportId, until, digest] = form.exec(link) ?? [];
  if (digest === undefined || !tokens.isDigest(digest, purpose, said!)) return undefined;
  return Number(until) > now.getTime() ? { companyId: Number(companyId), exportId: Number(exportId) } : undefined;
}
