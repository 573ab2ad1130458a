import { router } from '../../kernel/trpc.ts';

export const company = router({});
