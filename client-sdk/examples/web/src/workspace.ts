import { computed, effect, signal } from '@preact/signals';
import type { Employee, Project } from 'work-management-client';
import { client, getCompanyId, session } from './client.ts';
import { comebacks } from './network.ts';
import { attempt } from './notices.ts';

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
  if (sessionId.value === null) {
    employees.value = [];
    projects.value = null;
  } else if (session.peek()?.company) void attempt(loadWorkspace);
});

async function loadWorkspace(): Promise<void> {
  const company_id = getCompanyId();
  const [people, { company }] = await Promise.all([
    client.employees.list({ company_id }),
    client.company.get({ company_id }),
    loadProjects(),
  ]);
  employees.value = people.employees;
  timezone.value = company.timezone;
}

export async function loadProjects(): Promise<void> {
  projects.value = await Array.fromAsync(client.projects.list({ company_id: getCompanyId() }));
}
