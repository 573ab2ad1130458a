import { router } from '../../kernel/trpc.ts';
import { registerCompany } from './register-company.ts';
import { requestCode } from './request-code.ts';

export const registration = router({ requestCode, registerCompany });
