import type { JSX } from 'preact';
import { client, getMe } from '../client.ts';
import { announce } from '../notices.ts';
import { Problem } from '../parts.tsx';
import { useForm } from '../use-form.ts';
import type { Period } from './load-week.ts';

type SubmissionProps = { period: Period; unit: 'week' | 'month'; onDone(): void };

/** Submits one's own period, or withdraws it as long as nobody has decided. An approved one stays as it is. */
export function Submission({ period, unit, onDone }: SubmissionProps): JSX.Element | null {
  const { stored, firstDay } = period;
  const { isSending, problem, onSubmit } = useForm(async () => {
    if (stored?.status === 'submitted') {
      await client.timesheetPeriods.withdraw({ period_id: stored._id });
      announce(`The ${unit} is withdrawn and open again.`);
    } else {
      const { status } = await client.timesheetPeriods.submit({ employee_id: getMe()._id, period_start: firstDay });
      announce(status === 'approved' ? `The ${unit} is approved.` : `The ${unit} is submitted and waits for approval.`);
    }
    onDone();
  });
  if (stored?.status === 'approved') return null;
  const words =
    stored?.status === 'submitted' ? 'Withdraw' : stored?.status === 'rejected' ? 'Submit again' : `Submit the ${unit}`;
  return (
    <form class="submission" onSubmit={onSubmit}>
      <button
        type="submit"
        class={stored?.status === 'submitted' ? 'button' : 'button primary'}
        aria-disabled={isSending}
      >
        {isSending ? 'Sending…' : words}
      </button>
      <Problem text={problem} />
    </form>
  );
}
