import { resourceOf } from '../../features/oauth/request.ts';
import type { Settings } from '../../kernel/context.ts';
import { scopesOfAreas } from '../../platform/scopes.ts';

/*
 * What clients read to find their way: RFC 9728 for /mcp, and RFC 8414 for the endpoints here. Both are at the root of the host, with
 * the path of what they describe behind them.
 */

type Where = Pick<Settings, 'publicUrl'>;

/** The path of the public URL, without a trailing slash. */
const prefixOf = ({ publicUrl }: Where): string => new URL(publicUrl).pathname.replace(/\/$/, '');

const resourcePath = '/.well-known/oauth-protected-resource';
const serverPath = '/.well-known/oauth-authorization-server';

export const resourceMetadataUrl = (where: Where): string =>
  `${new URL(where.publicUrl).origin}${resourcePath}${prefixOf(where)}/mcp`;

/** Where each document is served: behind a proxy with a prefix also with that. */
export const metadataPaths = (where: Where): { resource: string[]; server: string[] } => ({
  resource: [...new Set([resourcePath, `${resourcePath}/mcp`, `${resourcePath}${prefixOf(where)}/mcp`])],
  server: [...new Set([serverPath, `${serverPath}${prefixOf(where)}`])],
});

// Clients that are told of no scope ask for those that are listed here.
const listed = { scopes_supported: scopesOfAreas };

export const resourceMetadata = (where: Where) => ({
  resource: resourceOf(where),
  authorization_servers: [where.publicUrl],
  ...listed,
  bearer_methods_supported: ['header'],
  resource_name: 'Work Management Service',
});

export const serverMetadata = ({ publicUrl }: Where) => ({
  issuer: publicUrl,
  authorization_endpoint: `${publicUrl}/oauth/authorize`,
  token_endpoint: `${publicUrl}/oauth/token`,
  registration_endpoint: `${publicUrl}/oauth/register`,
  revocation_endpoint: `${publicUrl}/oauth/revoke`,
  ...listed,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});
