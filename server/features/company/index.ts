import { router } from '../../kernel/trpc.ts';
import { closeCompany } from './close-company.ts';
import { getCompanyDetails } from './get-company-details.ts';
import { reopenCompany } from './reopen-company.ts';
import { updateCompany } from './update-company.ts';

export const company = router({
  get: getCompanyDetails,
  update: updateCompany,
  close: closeCompany,
  reopen: reopenCompany,
});
