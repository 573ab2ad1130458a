/*
 * The scopes of API keys. A narrow scope is an area of the service and what may be done there, such as `time:read`.
 *
 * - `read` and `write` hold every area, and what only admins may call there.
 * - `admin` gives a narrow key its maker's admin rights, in its areas and for what it may do there. Without it the key acts
 *   as an employee who is no admin.
 * - `login` signs others in, and nothing else.
 */

/** What the service is about, as people know it. */
export const areas = ['time', 'tasks', 'projects', 'comments', 'notifications', 'people', 'company'] as const;
export type Area = (typeof areas)[number];

export type ScopeKind = 'read' | 'write';
type NarrowScope = `${Area}:${ScopeKind}`;
export type Scope = ScopeKind | NarrowScope | 'admin' | 'login';

const narrowScopes = areas.flatMap((area): NarrowScope[] => [`${area}:read`, `${area}:write`]);

export const scopes: readonly Scope[] = ['read', 'write', ...narrowScopes, 'admin', 'login'];

/** The scopes of all areas: what an OAuth client gets that asks for none. */
export const scopesOfAreas: readonly Scope[] = narrowScopes;

/** The scopes that an OAuth client may have. It reaches /mcp alone, where nobody is signed in. */
export const scopesOfClients: readonly Scope[] = scopes.filter((scope) => scope !== 'login');

/** The scopes that only an admin may give a key. */
export const scopesOfAdmins: readonly Scope[] = ['admin', 'login'];

/**
 * What an operation asks of an API key: the areas whose scopes it needs, all of them; `everything` if it spans all areas,
 * so that only `read` or `write` itself is enough; `any key`, whatever its scopes; or `no key`, because only a session may.
 */
export type KeyAccess = Area | readonly Area[] | 'everything' | 'any key' | 'no key';

/** The scopes that allow a call: one of these sets, as a whole. There is none if no key may call. */
export function scopesFor(
  keys: KeyAccess,
  { kind, isForAdmins }: { kind: ScopeKind; isForAdmins: boolean },
): readonly (readonly Scope[])[] {
  if (keys === 'no key') return [];
  if (keys === 'any key') return [[]];
  if (keys === 'everything') return [[kind]];
  const narrow = [keys].flat().map((area: Area): Scope => `${area}:${kind}`);
  return [isForAdmins ? [...narrow, 'admin'] : narrow, [kind]];
}

/** Whether a key acts with its maker's admin rights. */
export const keepsAdminRights = (granted: readonly Scope[], kind: ScopeKind): boolean =>
  granted.includes(kind) || granted.includes('admin');
