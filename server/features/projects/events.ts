import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { changeEvent, changesOf, findChanges, recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { Project } from './schemas.ts';

/** A project without its logged hours, which change with every log, and without money, which is for admins. */
const ProjectHeader = Project.omit({ loggedHours: true, budget: true, amounts: true }).meta({
  id: 'ProjectHeader',
  description: 'A project without its logged hours and money',
});

type ProjectRecord = z.input<typeof Project>;

const { _id } = ProjectHeader.shape;
const { shape: changing } = ProjectHeader.omit({ _id: true, companyId: true, createdAt: true, updatedAt: true });

export const projectCreated = changeEvent('project.created', 'Somebody has started a project.', {
  projectId: _id,
  project: ProjectHeader,
});

export const projectUpdated = changeEvent('project.updated', 'Somebody has changed a project.', {
  projectId: _id,
  project: ProjectHeader,
  changes: changesOf(changing),
});

export const projectDeleted = changeEvent(
  'project.deleted',
  'Somebody has deleted a project: `project` is what it was. Its tasks and their logs are not found from then on, without an event for each.',
  { projectId: _id, project: ProjectHeader },
);

export const projectImported = changeEvent(
  'project.imported',
  'Tasks and time of a project were imported from a file, without an event for each: read them again.',
  {
    projectId: _id,
    source: z.string().meta({ description: 'What has exported the file', examples: ['toggl'] }),
    tasks: z.int().meta({ description: 'How many tasks are new' }),
    taskLogs: z.int().meta({ description: 'How many task logs are new' }),
  },
);

/** Records what has changed between two states of a project, apart from its logged hours. */
export function recordProjectUpdate(
  db: Db,
  { actorId, before, after, at }: { actorId: number | null; before: ProjectRecord; after: ProjectRecord; at: Date },
): void {
  const { companyId } = after;
  const changes = findChanges(changing, before, after);
  if (!changes) return;
  const payload = { actorId, projectId: after._id, project: after, changes };
  recordChange(db, projectUpdated, { companyId, streams: [changeStream.projects(companyId)], payload, at });
}
