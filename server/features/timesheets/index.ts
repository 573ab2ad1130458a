import { router } from '../../kernel/trpc.ts';
import { getTimesheet } from './get-timesheet.ts';

export const timesheets = router({ get: getTimesheet });
