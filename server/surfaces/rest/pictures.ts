import type { FastifyInstance } from 'fastify';
import type { Services } from '../../kernel/context.ts';
import { findPicture } from '../../features/employees/pictures.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { sendProblem } from '../http/problem.ts';

const url = '/pictures/:company_id/:picture_id';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Serves profile pictures to anyone who knows the address: an `<img>` sends no token, and 122 random bits cannot be
 * guessed. A picture never changes under its address, so caches may store it.
 */
export function registerPictures(app: FastifyInstance, { database }: Services): void {
  app.get<{ Params: { company_id: string; picture_id: string } }>(url, async (request, reply) => {
    const companyId = Number(request.params.company_id);
    const pictureId = request.params.picture_id;
    const isAddress = /^[1-9]\d*$/.test(request.params.company_id) && Number.isSafeInteger(companyId);
    if (!isAddress || !uuid.test(pictureId)) return sendProblem(request, reply, NOT_FOUND());
    const picture = await findPicture(database.forCompany(companyId).db, companyId, pictureId);
    if (!picture) return sendProblem(request, reply, NOT_FOUND());
    return reply
      .headers({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        'Content-Security-Policy': "default-src 'none'",
        // Frontends show it from another origin.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })
      .type(picture.content_type)
      .send(picture.content);
  });
}
