import type { ApiKeyScope } from 'work-management-client';

/* What the scopes of a key are called. */

export const areaNames = {
  time: 'Time',
  tasks: 'Tasks',
  projects: 'Projects',
  comments: 'Comments',
  notifications: 'Notifications',
  people: 'People',
  company: 'Company',
} as const;
export type Area = keyof typeof areaNames;
export const areas = Object.keys(areaNames) as Area[];

export type Level = 'none' | 'read' | 'write';
export const levelNames: Record<Level, string> = { none: 'Nothing', read: 'Read', write: 'Read and write' };

export const scopesOfLevel = (area: Area, level: Level): ApiKeyScope[] =>
  level === 'none' ? [] : level === 'read' ? [`${area}:read`] : [`${area}:read`, `${area}:write`];

type WholeScope = Exclude<ApiKeyScope, `${string}:${string}`>;

export const scopeNames: Record<WholeScope, readonly [name: string, about: string]> = {
  read: ['Read', 'Sees what you see.'],
  write: ['Write', 'Makes and changes what you may.'],
  admin: ['Admin rights', 'In these areas, also what only admins may see and do.'],
  login: ['Sign people in', 'Opens sessions of any employee of the company. For single sign-on of your own.'],
};

const verbs: Record<WholeScope, string> = {
  read: 'reads',
  write: 'writes',
  admin: 'has admin rights there',
  login: 'signs people in',
};

const isWhole = (scope: ApiKeyScope): scope is WholeScope => scope in verbs;

/** What a key does, such as `reads time, writes time`. */
export function inWords(scopes: readonly ApiKeyScope[]): string {
  const words = scopes.map((scope) => {
    if (isWhole(scope)) return verbs[scope];
    const [area, kind] = scope.split(':') as [Area, 'read' | 'write'];
    return `${verbs[kind]} ${areaNames[area].toLowerCase()}`;
  });
  return words.join(', ');
}
