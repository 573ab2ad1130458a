import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Employee } from 'work-management-client';
import { client } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { announce } from '../notices.ts';
import { Ago, Loading, Problem } from '../parts.tsx';
import { deviceOf } from '../settings/device.ts';
import { useLoad } from '../use-load.ts';

/** Where somebody is signed in to the company, and the keys that they made: an admin ends either, as for a lost device. */
export function Access({ person: { _id, name, isActive } }: { person: Employee }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const [asked, setAsked] = useState<'sessions' | 'keys' | null>(null);
  const { value, problem, reload } = useLoad(
    async (signal) => client.employees.getAccess({ _id }, { signal }),
    [_id, isActive],
  );

  function closed(isSent: boolean): void {
    setAsked(null);
    reload();
    if (isSent) heading.current?.focus();
  }

  return (
    <section class="card" aria-labelledby="access-heading">
      <h2 id="access-heading" class="card-head" tabIndex={-1} ref={heading}>
        Access
      </h2>
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading the access" lines={2} />}
      {value?.sessions.length === 0 && value.keys.length === 0 && (
        <p class="quiet">Nowhere signed in, and no API keys.</p>
      )}
      <ul class="rows">
        {value?.sessions.map(({ _id: sessionId, device, network, lastUsedAt }) => (
          <li key={`session ${sessionId}`}>
            <div>
              <p>{deviceOf(device)}</p>
              <p class="quiet">
                Used <Ago at={lastUsedAt} />
                {network !== null && <> from {network}</>}
              </p>
            </div>
          </li>
        ))}
        {value?.keys.map(({ _id: keyId, name: keyName, start, lastUsedAt }) => (
          <li key={`key ${keyId}`}>
            <div>
              <p>
                API key {keyName} <code>{start}…</code>
              </p>
              <p class="quiet">
                {lastUsedAt === null ? (
                  'Never used'
                ) : (
                  <>
                    Used <Ago at={lastUsedAt} />
                  </>
                )}
              </p>
            </div>
          </li>
        ))}
      </ul>
      <div class="row-actions">
        {value && value.sessions.length > 0 && (
          <button type="button" class="button" onClick={() => setAsked('sessions')}>
            End all sessions…
          </button>
        )}
        {value && value.keys.length > 0 && (
          <button type="button" class="button" onClick={() => setAsked('keys')}>
            End all keys…
          </button>
        )}
      </div>
      {asked === 'sessions' && (
        <Confirm
          question={`Sign ${name} out?`}
          action="End all sessions"
          send={async () => {
            await client.employees.endSessions({ _id });
            announce('All sessions are ended.');
          }}
          onClose={closed}
        >
          All devices are signed out of this company at once. They can sign in again.
        </Confirm>
      )}
      {asked === 'keys' && (
        <Confirm
          question={`End the API keys of ${name}?`}
          action="End all keys"
          send={async () => {
            await client.employees.endApiKeys({ _id });
            announce('All keys are ended.');
          }}
          onClose={closed}
        >
          What uses them is refused from then on.
        </Confirm>
      )}
    </section>
  );
}
