import { router } from '../../kernel/trpc.ts';

export const comments = router({});
