import { z } from 'zod';
import { NOT_FOUND, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { mailHeldInvitations } from '../memberships/invitation-mail.ts';
import { OWNER_REQUIRED } from './errors.ts';
import { companyReopened } from './events.ts';
import { lockCompany, toCompany } from './queries.ts';
import { Company } from './schemas.ts';

export const reopenCompany = admin('no key')
  .meta(
    rest('POST /api/company/{company_id}/reopen/', {
      section: 'Additions',
      summary: 'Take the closing of the company back',
      description:
        'For its owner, in a session of their own, until `closesAt`. Everything is as it was, except that timers have stopped. Reopening a company that is open changes nothing.',
      errors: [OWNER_REQUIRED, SESSION_REQUIRED, SESSION_BOUND],
      changes: [companyReopened],
      whileClosed: true,
      securityAct: 'company reopened',
      example: { company_id: 42 },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(Company)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    accountOf(caller);
    const row = await lockCompany(db, companyId);
    if (row.owner_id !== employeeId) throw OWNER_REQUIRED();
    // Its removal began while this waited.
    if (row.removal_began_at !== null) throw NOT_FOUND();
    if (row.closes_at === null) return toCompany(row);
    await db
      .updateTable('companies')
      .set({ closed_at: null, closes_at: null, closed_by_id: null })
      .where('company_id', '=', companyId)
      .execute();
    const now = services.clock.now();
    await mailHeldInvitations(db, companyId, now);
    recordChange(db, companyReopened, {
      companyId,
      streams: [changeStream.company(companyId)],
      payload: { actorId: employeeId, companyId, company: toCompany(row) },
      at: now,
    });
    return toCompany(row);
  });
