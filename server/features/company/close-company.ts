import { z } from 'zod';
import { lockDaysOfAll } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { invalid, NOT_FOUND, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { enqueueJobs } from '../../kernel/job.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { employeeOffboarded } from '../employees/offboard-employee.ts';
import { mailClosing } from './closing-mail.ts';
import { OWNER_REQUIRED } from './errors.ts';
import { companyClosed } from './events.ts';
import { lockCompany, toCompany } from './queries.ts';
import { exportOffer } from './schemas.ts';

/** So long the owner can change their mind. */
const closingMs = 30 * 24 * 3_600_000;

export const closeCompany = admin('no key')
  .meta(
    rest('POST /api/company/{company_id}/close/', {
      section: 'Additions',
      summary: 'Close the company',
      description:
        'For its owner, in a session of their own; `name` repeats the name of the company. For 30 days, until `closesAt`, everybody can sign in, and everything can be read and exported (POST `/api/exports/`), but nothing changed: other operations are answered 409 `COMPANY_CLOSED`. Running timers stop and their time is logged, and reminders stay quiet. All admins who have accepted their invitation are told by mail, and once more three days before the end. POST `/api/company/{company_id}/reopen/` takes it back. After that the company is removed with everything in it, and so are the accounts of people who are in no other company. Closing a closed company changes nothing.',
      errors: [OWNER_REQUIRED, SESSION_REQUIRED, SESSION_BOUND],
      changes: [companyClosed],
      whileClosed: true,
      securityAct: 'company closed',
      example: { company_id: 42, name: 'Analytical Engines' },
    }),
  )
  .input(z.object({ company_id: idOf('company'), name: z.string().max(400) }))
  .output(z.object({ company_id: idOf('company'), closesAt: moment, offer: exportOffer }))
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    accountOf(caller);
    const row = await lockCompany(db, companyId);
    if (row.owner_id !== employeeId) throw OWNER_REQUIRED();
    if (input.name.trim() !== row.name) throw invalid(['name'], 'must be the name of the company', 'invalid_value');
    // A timer that starts at the same time either is stopped here, or finds the company closed.
    if (row.closes_at === null) await lockDaysOfAll(db, companyId);
    const now = services.clock.now();
    const closesAt = row.closes_at ?? new Date(now.getTime() + closingMs);
    if (row.closes_at === null) {
      await db
        .updateTable('companies')
        .set({ closed_at: now, closes_at: closesAt, closed_by_id: employeeId })
        .where('company_id', '=', companyId)
        .execute();
      await stopTimers(db, companyId, now);
      await mailClosing(db, { companyId, closesAt, now });
      recordChange(db, companyClosed, {
        companyId,
        streams: [changeStream.company(companyId)],
        payload: { actorId: employeeId, companyId, company: toCompany(row), closesAt },
        at: now,
      });
    }
    return { company_id: companyId, closesAt, offer: offerUntil(closesAt) };
  });

const offerUntil = (end: Date): string =>
  `Until ${end.toISOString()} the company can be reopened, and exported with POST /api/exports/.`;

/** Ends running timers as if their employees had left now. */
async function stopTimers(db: Db, companyId: number, now: Date): Promise<void> {
  const running = await db.selectFrom('timers').where('company_id', '=', companyId).select('employee_id').execute();
  const leftAt = now.toISOString();
  const jobs = running.map(({ employee_id: employeeId }) => ({
    dedupeKey: `${companyId} ${employeeId} ${leftAt}`,
    payload: { companyId, employeeId, leftAt },
  }));
  await enqueueJobs(db, employeeOffboarded, jobs, now);
}
