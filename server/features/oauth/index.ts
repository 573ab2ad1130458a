import { router } from '../../kernel/trpc.ts';
import { authorizeClient } from './authorize-client.ts';

export const oauth = router({ authorizeClient });
