import { initTRPC } from '@trpc/server';
import type { Context } from './context.ts';
import { toFaultError } from './faults.ts';
import type { OperationMeta } from './operation.ts';

const t = initTRPC
  .context<Context>()
  .meta<OperationMeta>()
  .create({
    isDev: false,
    /** Gives a tRPC error the same `code`, `requestId` and `issues` as the problem document has. */
    errorFormatter: ({ shape, error, ctx, path }) => {
      const refusal = toFaultError(error);
      return {
        code: shape.code,
        message: refusal.message,
        data: {
          code: refusal.fault.code,
          httpStatus: refusal.fault.status,
          requestId: ctx?.request.id,
          ...(path === undefined ? {} : { path }),
          ...(refusal.issues === undefined ? {} : { issues: refusal.issues }),
          ...(refusal.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: refusal.retryAfterSeconds }),
        },
      };
    },
  });

export const { router, middleware, procedure } = t;
