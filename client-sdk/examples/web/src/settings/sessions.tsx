import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isApiError, type Session } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { write } from '../network.ts';
import { announce, attempt } from '../notices.ts';
import { Ago, Loading, Problem } from '../parts.tsx';
import { useLoad } from '../use-load.ts';
import { deviceOf } from './device.ts';

/** Counts what else ends sessions. */
export const sessionsChanged = signal(0);

const methods: Readonly<Record<string, string>> = {
  password: 'by a password',
  code: 'by a mailed code',
  google: 'with Google',
  apple: 'with Apple',
  registration: 'with the registration',
  invitation: 'by an invitation',
  token: 'by a change of company',
  'api key': 'by a key of the company',
};

/** Where one is signed in. */
export function Sessions(): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const [isAsked, setAsked] = useState(false);
  const { value, problem, reload } = useLoad(
    async (signal) => client.sessions.list({ signal }),
    [sessionsChanged.value],
  );
  const sessions = value?.sessions ?? [];
  const others = sessions.filter(({ isCurrent }) => !isCurrent);

  async function end({ _id }: Session): Promise<void> {
    const isDone = await attempt(() => write(async () => endSession(_id)));
    if (isDone) {
      // Its button is about to go, and the focus with it.
      heading.current?.focus();
      announce('The session is ended.');
    }
    reload();
  }

  return (
    <section class="card" aria-labelledby="sessions-heading">
      <h2 id="sessions-heading" class="card-head" tabIndex={-1} ref={heading}>
        Where you are signed in
      </h2>
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading your sessions" />}
      <ul class="rows">
        {sessions.map((session) => (
          <SessionRow key={session._id} session={session} onEnd={() => void end(session)} />
        ))}
      </ul>
      {others.length > 1 && (
        <button type="button" class="button" onClick={() => setAsked(true)}>
          End all others…
        </button>
      )}
      {isAsked && (
        <Confirm
          question={`End ${others.length} sessions?`}
          action="End all others"
          send={async () => {
            for (const { _id } of others) await endSession(_id);
            announce('All other sessions are ended.');
          }}
          onClose={(isSent) => {
            setAsked(false);
            reload();
            if (isSent) heading.current?.focus();
          }}
        >
          All devices but this one are signed out at once.
        </Confirm>
      )}
    </section>
  );
}

/** One that is over already is as good as ended. */
async function endSession(session_id: number): Promise<void> {
  await client.sessions.end({ session_id }).catch((error: unknown) => {
    if (!isApiError(error, 'NOT_FOUND')) throw error;
  });
}

function SessionRow({ session, onEnd }: { session: Session; onEnd(): void }): JSX.Element {
  const { device, network, method, isCurrent, lastUsedAt, company_id: companyId } = session;
  const name = deviceOf(device);
  return (
    <li>
      <div>
        <p>
          <strong>{name}</strong> {isCurrent && <span class="tag">This one</span>}
        </p>
        <p class="quiet">
          Used <Ago at={lastUsedAt} />
          {network !== null && <> from {network}</>}, signed in {methods[method] ?? `by ${method}`}
          {companyId !== getCompanyId() && (companyId === null ? ', without a company' : ', in another company')}
        </p>
      </div>
      {!isCurrent && (
        <button type="button" class="button small" aria-label={`End the session of ${name}`} onClick={onEnd}>
          End
        </button>
      )}
    </li>
  );
}
