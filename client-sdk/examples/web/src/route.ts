import { signal } from '@preact/signals';

export type Route =
  | { view: 'board'; projectId: number | null; mine: boolean }
  | { view: 'task'; taskId: number; commentId: number | null }
  | { view: 'hours' }
  | { view: 'week'; day: string | null }
  | { view: 'period'; periodId: number }
  | { view: 'people' }
  | { view: 'person'; employeeId: number }
  | { view: 'account' }
  | { view: 'keys' }
  | { view: 'preferences' }
  | { view: 'company' }
  | { view: 'forgotten' }
  | { view: 'reset'; token: string }
  | { view: 'invitation'; invitationId: number; token: string }
  | { view: 'missing' };

function parse(hash: string): Route {
  const { pathname, searchParams } = new URL(hash.replace(/^#?\/?/, 'page:/'));
  const [section = '', id = ''] = pathname.split('/').filter((part) => part !== '');
  const identifier = identifierIn(id);
  if (section === 'reset-password') return { view: 'reset', token: searchParams.get('token') ?? '' };
  if (section === 'forgotten-password') return { view: 'forgotten' };
  if (section === 'invitations' && identifier !== null)
    return { view: 'invitation', invitationId: identifier, token: searchParams.get('token') ?? '' };
  if (section === 'hours') return { view: 'hours' };
  if (section === 'week' && (id === '' || isDay(id))) return { view: 'week', day: id === '' ? null : id };
  // What reminds of the end of a period leads to the present one.
  if (section === 'timesheet-periods' && id === '') return { view: 'week', day: null };
  if (section === 'timesheet-periods' && identifier !== null) return { view: 'period', periodId: identifier };
  if (section === 'people' && id === '') return { view: 'people' };
  if (section === 'people' && identifier !== null) return { view: 'person', employeeId: identifier };
  if (section === 'account') return { view: 'account' };
  if (section === 'api-keys') return { view: 'keys' };
  if (section === 'company') return { view: 'company' };
  if (section === 'notification-preferences') return { view: 'preferences' };
  if (section === 'tasks' && identifier !== null)
    return { view: 'task', taskId: identifier, commentId: identifierIn(searchParams.get('comment')) };
  if (section === 'projects' && identifier !== null) return { view: 'board', projectId: identifier, mine: false };
  if (section === '' || (section === 'tasks' && id === ''))
    return { view: 'board', projectId: identifierIn(searchParams.get('project')), mine: searchParams.has('mine') };
  return { view: 'missing' };
}

/** A number that the service can have given to something. */
function identifierIn(text: string | null): number | null {
  const number = /^[1-9]\d*$/.test(text ?? '') ? Number(text) : null;
  return Number.isSafeInteger(number) ? number : null;
}

/** A day whose weeks before and after have years of four digits too, as the service takes them. */
function isDay(text: string): boolean {
  const at = /^[1-8]\d{3}-\d\d-\d\d$/.test(text) ? new Date(text) : null;
  return at !== null && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Where the page is, by the part of its address after `#`. */
export const route = signal<Route>(parse(location.hash));
addEventListener('hashchange', () => (route.value = parse(location.hash)));

export const taskHref = (taskId: number, commentId?: number | null): string =>
  `#/tasks/${taskId}${commentId === undefined || commentId === null ? '' : `?comment=${commentId}`}`;

export const personHref = (employeeId: number): string => `#/people/${employeeId}`;

/** The week of a day; the present one without it. */
export const weekHref = (day?: string): string => (day === undefined ? '#/week' : `#/week/${day}`);

/** Where a link of a notification leads that is about periods; undefined for others. */
export function periodHref(link: string | null): string | undefined {
  const path = /\/timesheet-periods(\/\d+)?$/.exec(link ?? '')?.[0];
  return path && `#${path}`;
}

export function boardHref({ projectId, mine }: { projectId: number | null; mine: boolean }): string {
  const filters = new URLSearchParams();
  if (projectId !== null) filters.set('project', String(projectId));
  if (mine) filters.set('mine', '');
  return `#/tasks${filters.size === 0 ? '' : `?${filters.toString().replace(/=$/, '')}`}`;
}
