import type { FastifyInstance } from 'fastify';
import { NOT_FOUND } from '../../errors/errors.ts';
import { readLink } from '../../features/exports/links.ts';
import { takeFile } from '../../features/exports/take-file.ts';
import type { Services } from '../../kernel/context.ts';
import { sendProblem } from '../http/problem.ts';
import { requestInfo } from '../http/request-info.ts';
import { sendDownload } from '../http/send-download.ts';

/** Serves the files of exports at their signed addresses. A wrong, expired or withdrawn one is 404. */
export function registerExports(app: FastifyInstance, { database, tokens, clock }: Services): void {
  app.get<{ Params: { link: string } }>('/exports/:link', async (request, reply) => {
    const now = clock.now();
    const link = readLink(tokens, request.params.link, now);
    const { network, id: requestId, isHead = false } = requestInfo(request, reply);
    const origin = { network, requestId, transport: 'rest' } as const;
    const file = link && (await takeFile(database.forCompany(link.companyId).db, link, { now, origin, isHead }));
    if (!file) return sendProblem(request, reply, NOT_FOUND());
    reply.headers({ 'Content-Length': file.bytes, 'Cache-Control': 'private, no-store' });
    await sendDownload(reply, file.download);
    return reply;
  });
}
