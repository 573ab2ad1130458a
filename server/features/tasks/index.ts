import { router } from '../../kernel/trpc.ts';

export const tasks = router({});
