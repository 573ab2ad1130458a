import { router } from '../../kernel/trpc.ts';
import { changePassword } from './change-password.ts';
import { requestReset } from './request-reset.ts';
import { resetPassword } from './reset-password.ts';

export const passwords = router({ requestReset, reset: resetPassword, change: changePassword });
