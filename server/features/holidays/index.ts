import { router } from '../../kernel/trpc.ts';
import { listHolidays } from './list-holidays.ts';
import { replaceHolidays } from './replace-holidays.ts';

export const holidays = router({ list: listHolidays, replace: replaceHolidays });
