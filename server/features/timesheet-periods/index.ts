import { router } from '../../kernel/trpc.ts';
import { decidePeriods } from './decide-periods.ts';
import { listPeriods } from './list-periods.ts';
import { reopenPeriod } from './reopen-period.ts';
import { submitPeriod } from './submit-period.ts';
import { withdrawPeriod } from './withdraw-period.ts';

export const timesheetPeriods = router({
  submit: submitPeriod,
  withdraw: withdrawPeriod,
  decide: decidePeriods,
  reopen: reopenPeriod,
  list: listPeriods,
});
