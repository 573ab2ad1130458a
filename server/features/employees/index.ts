import { router } from '../../kernel/trpc.ts';

export const employees = router({});
