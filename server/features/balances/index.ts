import { router } from '../../kernel/trpc.ts';
import { getBalance } from './get-balance.ts';

export const balances = router({ get: getBalance });
