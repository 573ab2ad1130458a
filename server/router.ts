import { auth } from './features/auth/index.ts';
import { registration } from './features/registration/index.ts';
import { sessions } from './features/sessions/index.ts';
import { router } from './kernel/trpc.ts';

/** The table of contents: every operation of the service, by feature. */
export const appRouter = router({
  auth,
  registration,
  sessions,
});

/** For typed clients. */
export type AppRouter = typeof appRouter;
