import { router } from '../../kernel/trpc.ts';
import { searchCompany } from './search-company.ts';

export const search = router({ company: searchCompany });
