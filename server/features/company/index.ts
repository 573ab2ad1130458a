import { router } from '../../kernel/trpc.ts';
import { getCompanyDetails } from './get-company-details.ts';
import { updateCompany } from './update-company.ts';

export const company = router({ get: getCompanyDetails, update: updateCompany });
