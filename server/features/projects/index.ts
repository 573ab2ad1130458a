import { router } from '../../kernel/trpc.ts';

export const projects = router({});
