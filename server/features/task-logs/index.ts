import { router } from '../../kernel/trpc.ts';

export const taskLogs = router({});
