import { router } from '../../kernel/trpc.ts';
import { listWorkingHours } from './list-working-hours.ts';
import { setWorkingHours } from './set-working-hours.ts';

export const workingHours = router({ list: listWorkingHours, set: setWorkingHours });
