import { useState } from 'preact/hooks';
import type { TimesheetPeriod, TimesheetPeriodsDecideAnswer } from 'work-management-client';
import { client } from '../client.ts';
import { write } from '../network.ts';
import { daysInWords } from '../time.ts';

export type Decision = 'approve' | 'reject';
type Result = TimesheetPeriodsDecideAnswer['results'][number]['result'];

const resultsInWords: Record<Result, string> = {
  approved: 'approved',
  rejected: 'rejected',
  not_submitted: 'left as it is, because it does not wait any more',
  own_time: 'left as it is, because somebody else decides on your own time',
};

/** `Fatima El Idrissi, 16 Nov – 22 Nov` */
export const titleOf = ({ name, firstDay, lastDay }: TimesheetPeriod): string =>
  `${name}, ${daysInWords(firstDay, lastDay)}`;

/** Decides on periods, and keeps what became of each of them. */
export function useDecisions(onDone: () => void): {
  outcomes: string[];
  decide(periods: readonly TimesheetPeriod[], decision: Decision, note?: string): Promise<void>;
} {
  const [outcomes, setOutcomes] = useState<string[]>([]);
  return {
    outcomes,
    async decide(periods, decision, note) {
      const period_ids = periods.map(({ _id }) => _id);
      const { results } = await write(() =>
        client.timesheetPeriods.decide({ period_ids, decision, note: note ?? null }),
      );
      // In the order of the request.
      setOutcomes(results.map(({ result }, index) => `${titleOf(periods[index]!)}: ${resultsInWords[result]}.`));
      onDone();
    },
  };
}
