import { createService } from './parts.ts';
import { tellReady } from './side.ts';

/* This service, over REST and over tRPC. */

const { server } = await createService();
tellReady(await server.listen({ port: 0, host: '127.0.0.1' }));
