import { computed, effect, signal } from '@preact/signals';
import type { Company, Employee, Project, ProjectsOnCompanyEvent } from 'work-management-client';
import { client, getCompanyId, getMe, session } from './client.ts';
import { comebacks } from './network.ts';
import { followLive } from './live.ts';
import { attempt, failure } from './notices.ts';

/* What all views need of the company: its people, its projects and its time zone. */

/** Everybody, also those who have left; empty until they were read. */
export const employees = signal<Employee[]>([]);
export const projects = signal<Project[] | null>(null);
export const timezone = signal(Intl.DateTimeFormat().resolvedOptions().timeZone);

/** Who can be mentioned and own tasks. */
export const activeEmployees = computed(() => employees.value.filter((one) => one.isActive && !one.isDeleted));

/** The person who is signed in, as the company knows them by now: their name and rights may be others than at the sign-in. */
export const getMyself = (): Pick<Employee, '_id' | 'name' | 'isAdmin' | 'isTeamLeader'> =>
  employees.value.find(({ _id }) => _id === getMe()._id) ?? getMe();

const renamed = signal<string | null>(null);
export const companyName = computed(() => renamed.value ?? session.value?.company?.company_name ?? '');

/** What somebody does, and whether they have accepted their invitation yet. */
export const roleOf = ({ designation, invitationStatus }: Employee): string =>
  [designation, invitationStatus === 'pending' ? 'invited' : null].filter((part) => part !== null).join(', ');

const names = computed(() => new Map(employees.value.map((one) => [one._id, one.name])));

export const nameOf = (employeeId: number): string => names.value.get(employeeId) ?? 'Somebody';

export const projectNameOf = (projectId: number): string =>
  projects.value?.find((one) => one._id === projectId)?.name ?? 'Project';

const sessionId = computed(() => session.value?.id ?? null);

effect(() => {
  void comebacks.value;
  if (sessionId.value === null) {
    employees.value = [];
    renamed.value = null;
  } else if (session.peek()?.company) void attempt(loadWorkspace);
});

async function loadWorkspace(): Promise<void> {
  const [, { company }] = await Promise.all([loadPeople(), client.company.get({ company_id: getCompanyId() })]);
  putCompany(company);
}

export async function loadPeople(signal?: AbortSignal): Promise<void> {
  const answer = await client.employees.list({ company_id: getCompanyId() }, { signal });
  employees.value = answer.employees;
}

/** Adds an employee, or shows one as they are now. */
export function putEmployee(employee: Employee): void {
  employees.value = [...employees.value.filter(({ _id }) => _id !== employee._id), employee];
}

/** Shows the company as it is now. */
export function putCompany({ name, timezone: zone }: Company): void {
  renamed.value = name;
  timezone.value = zone;
}

let leaving = new AbortController();
effect(() => {
  leaving.abort();
  leaving = new AbortController();
  projects.value = null;
  if (sessionId.value !== null && session.peek()?.company) followProjects(leaving.signal);
});

function followProjects(leave: AbortSignal): void {
  followLive<ProjectsOnCompanyEvent>({
    streams: [(options) => client.projects.onCompany({}, options)],
    leave,
    async read() {
      projects.value = await Array.fromAsync(client.projects.list({ company_id: getCompanyId() }, { signal: leave }));
    },
    take: takeProject,
    failed: (problem) => void (failure.value = problem),
  });
}

function takeProject(event: ProjectsOnCompanyEvent): void {
  const known = projects.value ?? [];
  if (event.type === 'project.created') putProject({ ...event.project, loggedHours: 0, budget: null, amounts: null });
  if (event.type === 'project.updated')
    projects.value = known.map((one) => (one._id === event.projectId ? { ...one, ...event.project } : one));
  if (event.type === 'project.deleted') projects.value = known.filter(({ _id }) => _id !== event.projectId);
}

/** Adds a project that was made, here or elsewhere. */
export function putProject(project: Project): void {
  const others = (projects.value ?? []).filter(({ _id }) => _id !== project._id);
  projects.value = [project, ...others].toSorted((a, b) => b._id - a._id);
}
