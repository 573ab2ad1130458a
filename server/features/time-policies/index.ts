import { router } from '../../kernel/trpc.ts';
import { getTimePolicy } from './get-time-policy.ts';
import { updateTimePolicy } from './update-time-policy.ts';

export const timePolicies = router({ get: getTimePolicy, update: updateTimePolicy });
