import { router } from '../../kernel/trpc.ts';
import { appleLogin } from './apple-login.ts';
import { googleLogin } from './google-login.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { otpLogin } from './otp-login.ts';
import { refresh } from './refresh.ts';
import { tokenLogin } from './token-login.ts';
import { verifyEmail } from './verify-email.ts';

export const auth = router({ login, googleLogin, appleLogin, verifyEmail, otpLogin, tokenLogin, refresh, logout });
