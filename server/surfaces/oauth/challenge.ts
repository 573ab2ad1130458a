import type { Settings } from '../../kernel/context.ts';
import { resourceMetadataUrl } from './metadata.ts';

/**
 * The `WWW-Authenticate` of a 401 of /mcp (RFC 6750, RFC 9728): it tells a client where to find out how to get a token, and
 * whether the one that it sent is not good.
 */
export function challenge(settings: Pick<Settings, 'publicUrl'>, { hasToken }: { hasToken: boolean }): string {
  return `Bearer ${hasToken ? 'error="invalid_token", ' : ''}resource_metadata="${resourceMetadataUrl(settings)}"`;
}
