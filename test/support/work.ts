import type { Actor } from './actor.ts';

/** A project with one task on it, started by the given person. */
export async function startWork(
  actor: Actor,
  project: { name?: string; allocatedHours?: number } = {},
): Promise<{ projectId: number; taskId: number }> {
  const started = await actor.post('/api/projects/', { name: 'Difference Engine', ...project });
  if (started.status !== 200) throw new Error(`no project was started: ${JSON.stringify(started.body)}`);
  const projectId: number = started.body._id;
  return { projectId, taskId: await addTask(actor, projectId) };
}

export async function addTask(actor: Actor, projectId: number): Promise<number> {
  const { status, body } = await actor.post('/api/tasks/', { projectId, title: 'Turn the crank' });
  if (status !== 200) throw new Error(`no task was added: ${JSON.stringify(body)}`);
  return body._id;
}
