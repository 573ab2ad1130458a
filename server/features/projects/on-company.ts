import { z } from 'zod';
import { changeStreamKind } from '../../kernel/change-stream-kind.ts';
import { stream } from '../../kernel/procedures.ts';
import { lastEventId, StreamOpened, StreamReset } from '../../kernel/streams.ts';
import { projectCreated, projectDeleted, projectUpdated } from './events.ts';

const ProjectsEvent = z.discriminatedUnion('type', [
  projectCreated.streamEvent,
  projectUpdated.streamEvent,
  projectDeleted.streamEvent,
  StreamReset,
  StreamOpened,
]);

/** The projects of a company, for everybody of it. */
const projectsStream = changeStreamKind('projects', ProjectsEvent);

export const onCompany = stream('projects')
  .meta({
    section: 'Additions',
    events: {
      schema: ProjectsEvent,
      summary: 'Projects of the company',
      description:
        'Projects that anyone creates, changes or deletes, without their logged hours. What happens in a project is sent by `tasks.onProject`.',
    },
  })
  .input(z.object({ lastEventId }).optional())
  .subscription(async ({ ctx, input }) => ctx.subscribe(projectsStream, ctx.caller.companyId, input?.lastEventId));
