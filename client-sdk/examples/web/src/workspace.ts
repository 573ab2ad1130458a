import { computed, effect, signal } from '@preact/signals';
import type { Employee, Project, ProjectsOnCompanyEvent } from 'work-management-client';
import { client, getCompanyId, session } from './client.ts';
import { comebacks } from './network.ts';
import { followLive } from './live.ts';
import { attempt, failure } from './notices.ts';

/* What all views need of the company: its people, its projects and its time zone. */

const employees = signal<Employee[]>([]);
export const projects = signal<Project[] | null>(null);
export const timezone = signal(Intl.DateTimeFormat().resolvedOptions().timeZone);

/** Who can be mentioned and own tasks. */
export const activeEmployees = computed(() => employees.value.filter((one) => one.isActive && !one.isDeleted));

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
  if (sessionId.value === null) employees.value = [];
  else if (session.peek()?.company) void attempt(loadPeople);
});

async function loadPeople(): Promise<void> {
  const company_id = getCompanyId();
  const [people, { company }] = await Promise.all([
    client.employees.list({ company_id }),
    client.company.get({ company_id }),
  ]);
  employees.value = people.employees;
  timezone.value = company.timezone;
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
