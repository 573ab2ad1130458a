import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { stream } from '../../kernel/procedures.ts';
import { lastEventId } from '../../kernel/streams.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { isProject } from '../projects/queries.ts';
import { ProjectEvent, projectStream } from './project-stream.ts';

export const onProject = stream(['tasks', 'time'])
  .meta({
    section: 'Additions',
    errors: [NOT_FOUND],
    events: {
      schema: ProjectEvent,
      summary: 'Tasks of a project and the time logged on them',
      description:
        'Tasks and task logs that anyone creates, changes or deletes, the subscriber included, each with the record and what has changed. A task that moves to another project is an event of both, and takes its logs along without an event for each; a deleted task takes its logs along as well. An import of a file is one event, `project.imported`, without the tasks and logs: read them again. When the project is deleted, the subscription sends `project.deleted` and ends with NOT_FOUND.',
    },
  })
  .input(z.object({ projectId: idOf('project'), lastEventId }))
  .subscription(async ({ ctx, input }) => {
    if (!(await isProject(ctx.db, ctx.caller.companyId, input.projectId))) throw NOT_FOUND();
    return ctx.subscribe(projectStream, input.projectId, input.lastEventId);
  });
