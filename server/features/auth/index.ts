import { router } from '../../kernel/trpc.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { refresh } from './refresh.ts';

export const auth = router({ login, refresh, logout });
