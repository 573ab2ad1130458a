import type { JSX } from 'preact';
import type { CompanyGetAnswer, Plan } from 'work-management-client';
import { dayInWords } from '../time.ts';
import { activeEmployees, employees } from '../workspace.ts';

/** What the company has paid for, and how much of it is used. */
export function PlanCard({ details }: { details: CompanyGetAnswer }): JSX.Element {
  const { subscriptions, plans, latestPayment } = details;
  const current = plans.find(({ change }) => change === 'current');
  const subscription = subscriptions.find(({ plan }) => plan === current?.code);
  return (
    <section class="card stack" aria-labelledby="plan-heading">
      <h2 id="plan-heading" class="card-head">
        Plan
        {subscription?.trial === true && <span class="tag waits">Trial</span>}
        {subscription?.status === 'past_due' && <span class="tag waits">Payment is due</span>}
      </h2>
      {current ? (
        <>
          <p>
            <strong class="plan-name">{current.name}</strong>{' '}
            {subscription?.endsAt && (
              <span class="quiet">until {dayInWords(subscription.endsAt, { dateStyle: 'long' })}</span>
            )}
          </p>
          <People plan={current} />
          <p>{bytesInWords(current.storageBytes)} of storage</p>
        </>
      ) : (
        <p class="quiet">No subscription is active.</p>
      )}
      {latestPayment && (
        <p class="quiet">
          Last paid: {moneyInWords(latestPayment.amount, latestPayment.currency)} on{' '}
          {dayInWords(latestPayment.paidAt, { dateStyle: 'long' })}
        </p>
      )}
      <details>
        <summary>All plans</summary>
        <ul class="rows">
          {plans.map((plan) => (
            <li key={plan._id}>
              <div>
                <p>
                  <strong>{plan.name}</strong> {plan.change === 'current' && <span class="tag">Yours</span>}
                </p>
                <p class="quiet">
                  {plan.maxEmployees === null ? 'Any number of people' : `${plan.maxEmployees} people`},{' '}
                  {bytesInWords(plan.storageBytes)}
                </p>
              </div>
              <p>
                {moneyInWords(plan.pricePerMonth, plan.currency)}
                <span class="quiet"> a month</span>
              </p>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

/** The people who take a place of the plan: those who are active. */
function People({ plan: { maxEmployees } }: { plan: Plan }): JSX.Element | null {
  if (employees.value.length === 0) return null;
  const used = activeEmployees.value.length;
  if (maxEmployees === null) return <p>{used} people, of any number</p>;
  const isFull = used >= maxEmployees;
  return (
    <div class="usage">
      <p>
        {used} of {maxEmployees} people
      </p>
      <svg class="usage-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class={isFull ? 'full' : undefined} width={Math.min(100, (100 * used) / maxEmployees)} height="4" />
      </svg>
      {isFull && <p class="quiet">All places are taken: deactivate somebody before another one can be invited.</p>}
    </div>
  );
}

function bytesInWords(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const style = { style: 'unit', unit: units[power]!, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat('en-GB', style).format(bytes / 1024 ** power);
}

const moneyInWords = (amount: number, currency: string): string =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(amount);
