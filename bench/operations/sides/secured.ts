import { openServer } from '../../../db/open.ts';
import { secureTables } from '../../../db/row-security.ts';
import { createService } from './parts.ts';
import { setting, tellReady } from './side.ts';

/* This service with row-level security. The policies bind none of the other sides, which own the tables. */

const { owner, close } = openServer(setting('DATABASE_URL'));
await secureTables(owner.db).finally(close);
const { server } = await createService({ rowSecurity: true });
tellReady(await server.listen({ port: 0, host: '127.0.0.1' }));
