import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimesheetPeriod } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { explain } from '../notices.ts';
import { Loading, Problem } from '../parts.tsx';
import { useLoad } from '../use-load.ts';
import { activeEmployees, getMyself } from '../workspace.ts';
import { useDecisions, type Decision } from './decisions.ts';
import { RejectDialog } from './reject-dialog.tsx';
import { WaitingRow } from './waiting-row.tsx';

/** The periods that wait for the decision of a team leader or an admin; `changes` has them read again. */
export function Waiting({ changes, onDecided }: { changes: unknown; onDecided(): void }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [toReject, setToReject] = useState<readonly TimesheetPeriod[] | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const { value, problem, reload } = useLoad(
    async (signal) => client.timesheetPeriods.list({ company_id: getCompanyId(), status: 'submitted' }, { signal }),
    [changes],
  );
  const { outcomes, decide } = useDecisions(() => {
    setSelected(new Set());
    setToReject(null);
    onDecided();
  });
  // The rows are about to go, and the focus with them.
  useEffect(() => {
    if (outcomes.length > 0) heading.current?.focus();
  }, [outcomes]);
  const waiting = value?.results ?? [];
  const decidable = waiting.filter(mayDecide);
  const chosen = decidable.filter(({ _id }) => selected.has(_id));

  async function approve(periods: readonly TimesheetPeriod[]): Promise<void> {
    setBusy(true);
    setRefusal(null);
    try {
      await decide(periods, 'approve');
    } catch (error) {
      setRefusal(explain(error));
    } finally {
      setBusy(false);
    }
  }

  function act(periods: readonly TimesheetPeriod[], decision: Decision): void {
    if (isBusy || periods.length === 0) return;
    if (decision === 'approve') void approve(periods);
    else setToReject(periods);
  }

  function select(periodId: number, isSelected: boolean): void {
    const others = [...selected].filter((one) => one !== periodId);
    setSelected(new Set(isSelected ? [...others, periodId] : others));
  }

  return (
    <section class="card waiting" aria-labelledby="waiting-heading">
      <h2 id="waiting-heading" tabIndex={-1} ref={heading}>
        Waiting for approval <span class="count">{waiting.length}</span>
      </h2>
      <div role="status">
        {outcomes.length > 0 && (
          <ul class="waiting-outcomes">
            {outcomes.map((outcome) => (
              <li key={outcome}>{outcome}</li>
            ))}
          </ul>
        )}
      </div>
      <Problem text={refusal ?? (value ? null : problem)} {...(refusal === null ? { onRetry: reload } : {})} />
      {!value && problem === null && <Loading label="Reading what waits" />}
      {value && waiting.length === 0 && <p class="quiet">Nothing waits. Time that is submitted stands here.</p>}
      {decidable.length > 1 && (
        <div class="waiting-bar" role="group" aria-label="Several at once">
          <label>
            <input
              type="checkbox"
              checked={chosen.length === decidable.length}
              onChange={(event) =>
                setSelected(new Set(event.currentTarget.checked ? decidable.map(({ _id }) => _id) : []))
              }
            />
            All
          </label>
          <button
            type="button"
            class="button primary small"
            aria-disabled={isBusy || chosen.length === 0}
            onClick={() => act(chosen, 'approve')}
          >
            {chosen.length === 0 ? 'Approve' : `Approve ${chosen.length}`}
          </button>
          <button
            type="button"
            class="button small"
            aria-disabled={isBusy || chosen.length === 0}
            onClick={() => act(chosen, 'reject')}
          >
            {chosen.length === 0 ? 'Reject…' : `Reject ${chosen.length}…`}
          </button>
        </div>
      )}
      <ul class="waiting-list">
        {waiting.map((period) => (
          <WaitingRow
            key={period._id}
            period={period}
            mayDecide={mayDecide(period)}
            isSelected={selected.has(period._id)}
            isBusy={isBusy}
            onSelect={(isSelected) => select(period._id, isSelected)}
            onDecide={(decision) => act([period], decision)}
          />
        ))}
      </ul>
      {value && value.nextCursor !== null && (
        <p class="quiet">More wait: they are shown when some of these are decided.</p>
      )}
      {toReject && (
        <RejectDialog
          periods={toReject}
          reject={async (note) => decide(toReject, 'reject', note)}
          onClose={() => setToReject(null)}
        />
      )}
    </section>
  );
}

/** Nobody decides on their own time, unless they are the only active admin. */
function mayDecide({ employee_id: employeeId }: TimesheetPeriod): boolean {
  const { _id, isAdmin } = getMyself();
  return employeeId !== _id || (isAdmin && activeEmployees.value.every((one) => one._id === _id || !one.isAdmin));
}
