import { router } from '../../kernel/trpc.ts';
import { endSession } from './end-session.ts';
import { listSessions } from './list-sessions.ts';

export const sessions = router({ list: listSessions, end: endSession });
