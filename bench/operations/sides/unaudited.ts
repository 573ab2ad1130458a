import { operationsOf } from '../../../server/kernel/operations.ts';
import { appRouter } from '../../../server/router.ts';
import { createService } from './parts.ts';
import { tellReady } from './side.ts';

/* This service without the rows of the audit log: what is between it and the service is their price. */

for (const { meta } of operationsOf(appRouter)) meta.notAudited = 'its cost is measured';
const { server } = await createService();
tellReady(await server.listen({ port: 0, host: '127.0.0.1' }));
