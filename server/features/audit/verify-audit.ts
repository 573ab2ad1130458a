import { z } from 'zod';
import { invalid, NOT_FOUND } from '../../errors/errors.ts';
import { requiredMessage } from '../../errors/issues.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { AuditVerdict } from './schemas.ts';
import { verifyCompany } from './verify-company.ts';

/** One call verifies about so many rows. */
const rowsMax = 50_000;

export const verifyAudit = admin('everything')
  .meta(
    rest('GET /api/audit/company/{company_id}/verify/', {
      section: 'Additions',
      summary: 'Verify the audit log of the company',
      description: `Recomputes the seals of the log, oldest first, and names the first row that was changed, removed or inserted after it was sealed. A call checks about ${rowsMax.toLocaleString('en')} rows; \`next\` tells where to go on. With \`knownSeal\` and \`knownHash\`, both from an earlier answer, it also finds out whether the log was cut off or replaced since.`,
      isLongRead: true,
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      after: z.int().min(0).default(0).meta({ description: 'Checks the seals after this one' }),
      knownSeal: z.int().min(1).meta({ description: 'A seal of an earlier answer' }).optional(),
      knownHash: z
        .string()
        .max(100)
        .meta({
          description: 'The hash of that seal in the earlier answer',
          examples: ['n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'],
        })
        .optional(),
    }),
  )
  .output(AuditVerdict)
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { after, knownSeal, knownHash } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const known = knownFrom(knownSeal, knownHash);
    const chain = { db: ctx.db, tokens: ctx.services.tokens, companyId };
    return verifyCompany(chain, { after, known, rowsMax });
  });

/** A seal of an earlier answer. Half of one is refused: verification would pass over it. */
function knownFrom(seal: number | undefined, hash: string | undefined) {
  if (seal === undefined && hash === undefined) return undefined;
  if (seal === undefined) throw invalid(['knownSeal'], `${requiredMessage} with knownHash`, 'required');
  if (hash === undefined) throw invalid(['knownHash'], `${requiredMessage} with knownSeal`, 'required');
  return { seal, hash };
}
