import { z } from 'zod';
import { changeStreamKind } from '../../kernel/change-stream-kind.ts';
import { StreamOpened, StreamReset } from '../../kernel/streams.ts';
import { projectDeleted, projectImported } from '../projects/events.ts';
import { findVisibleProjects } from '../projects/queries.ts';
import { taskLogCreated, taskLogDeleted, taskLogUpdated } from './task-log-events.ts';
import { taskCreated, taskDeleted, taskUpdated } from './events.ts';

/** The events of the tasks of a project and of their logs. */
export const ProjectEvent = z.discriminatedUnion('type', [
  taskCreated.streamEvent,
  taskUpdated.streamEvent,
  taskDeleted.streamEvent,
  taskLogCreated.streamEvent,
  taskLogUpdated.streamEvent,
  taskLogDeleted.streamEvent,
  projectImported.streamEvent,
  projectDeleted.streamEvent,
  StreamReset,
  StreamOpened,
]);

/** What happens in a project, for everybody of the company. */
export const projectStream = changeStreamKind('project', ProjectEvent, findVisibleProjects);
