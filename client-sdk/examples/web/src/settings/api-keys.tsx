import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ApiKey, NewApiKey } from 'work-management-client';
import { client } from '../client.ts';
import { Confirm } from '../confirm.tsx';
import { Icon } from '../icon.tsx';
import { announce } from '../notices.ts';
import { Ago, Loading, Problem } from '../parts.tsx';
import { dayInWords, now } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { KeyOnce } from './key-once.tsx';
import { inWords } from './key-scopes.ts';
import { NewKey } from './new-key.tsx';
import { SettingsHead } from './settings-head.tsx';

/** The keys with which one's own scripts and integrations call the service. */
export function ApiKeys(): JSX.Element {
  useTitle('API keys');
  const heading = useRef<HTMLHeadingElement>(null);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewApiKey | null>(null);
  const [toRevoke, setToRevoke] = useState<ApiKey | null>(null);
  const { value, problem, reload } = useLoad(async (signal) => client.apiKeys.list({ signal }), []);
  return (
    <>
      <SettingsHead heading="API keys" />
      {made && <KeyOnce key={made._id} made={made} onDone={() => setMade(null)} />}
      <section class="card settings-list" aria-labelledby="keys-heading">
        <h2 id="keys-heading" class="card-head" tabIndex={-1} ref={heading}>
          Your keys
          <button type="button" class="button primary small" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            Make a key
          </button>
        </h2>
        <Problem text={value ? null : problem} onRetry={reload} />
        {!value && problem === null && <Loading label="Reading your keys" />}
        {value?.keys.length === 0 && (
          <p class="quiet">None yet. A key lets a script or an integration act as you, without your password.</p>
        )}
        <ul class="rows">
          {value?.keys.map((key) => (
            <KeyRow key={key._id} apiKey={key} onRevoke={() => setToRevoke(key)} />
          ))}
        </ul>
      </section>
      {isMaking && (
        <NewKey
          onMade={(key) => {
            setMade(key);
            reload();
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {toRevoke && (
        <Confirm
          question={`Revoke ${toRevoke.name}?`}
          action="Revoke"
          send={async () => {
            await client.apiKeys.revoke({ key_id: toRevoke._id });
            announce(`${toRevoke.name} is revoked.`);
          }}
          onClose={(isSent) => {
            setToRevoke(null);
            reload();
            if (!isSent) return;
            if (made?._id === toRevoke._id) setMade(null);
            heading.current?.focus();
          }}
        >
          What uses it is refused from then on, and the sessions that it opened end.
        </Confirm>
      )}
    </>
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke(): void }): JSX.Element {
  const { name, start, scopes, expiresAt, lastUsedAt, client } = apiKey;
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= now.value;
  return (
    <li>
      <div>
        <p>
          <strong>{name}</strong>{' '}
          {client === null ? <code>{start}…</code> : <span class="tag">A connected program</span>}{' '}
          {isOver && <span class="tag waits">Expired</span>}
        </p>
        <p class="quiet">
          It {inWords(scopes)}.{' '}
          {lastUsedAt === null ? (
            'Never used.'
          ) : (
            <>
              Used <Ago at={lastUsedAt} />.
            </>
          )}{' '}
          {expiresAt === null
            ? 'Without an end.'
            : `${isOver ? 'Ended' : 'Ends'} on ${dayInWords(expiresAt, { dateStyle: 'long' })}.`}
        </p>
      </div>
      <button type="button" class="button small" aria-label={`Revoke ${name}`} onClick={onRevoke}>
        Revoke…
      </button>
    </li>
  );
}
