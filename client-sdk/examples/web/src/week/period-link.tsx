import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { client, getCompanyId, getMe } from '../client.ts';
import { Loading, Problem } from '../parts.tsx';
import { weekHref } from '../route.ts';
import { useLoad } from '../use-load.ts';

/** Where a notification of a period leads: to one's own week, or to the list of what waits, which stands on every week. */
export function PeriodLink({ periodId }: { periodId: number }): JSX.Element {
  const { value, problem, reload } = useLoad(
    async (signal) =>
      client.timesheetPeriods.list({ company_id: getCompanyId(), employee_id: getMe()._id }, { signal }),
    [periodId],
  );
  useEffect(() => {
    if (value) location.replace(weekHref(value.results.find(({ _id }) => _id === periodId)?.firstDay));
  }, [value]);
  return problem === null ? <Loading label="Reading the period" /> : <Problem text={problem} onRetry={reload} />;
}
