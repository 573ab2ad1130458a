import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError, type Invitation } from 'work-management-client';
import { client } from '../client.ts';
import { write } from '../network.ts';
import { explain } from '../notices.ts';
import { Loading, Problem } from '../parts.tsx';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { companyName } from '../workspace.ts';
import { Frame } from './frame.tsx';

type Link = { invitationId: number; token: string };

/** Where the link of an invitation mail leads. */
export function InvitationPage(link: Link): JSX.Element {
  useTitle('Invitation');
  return (
    <Frame heading="Your invitations">
      <Invitations
        link={link}
        none={`${companyName.value === '' ? '' : `You are in ${companyName.value}. `}No invitation is open: it was accepted by signing in, declined, or withdrawn.`}
      />
      <a class="button ghost wide" href="#/tasks">
        Go to the board
      </a>
    </Frame>
  );
}

/** The open invitations of the signed-in person. One that is accepted begins a session in that company. */
export function Invitations({ link, none }: { link?: Link; none: string }): JSX.Element {
  const [refusal, setRefusal] = useState<string | null>(null);
  const { value, problem, reload } = useLoad(async (signal) => client.invitations.list({ signal }), []);

  async function answer(send: () => Promise<unknown>): Promise<void> {
    setRefusal(null);
    try {
      await write(send);
      reload();
    } catch (error) {
      setRefusal(
        isApiError(error, 'ADDRESS_PROOF_REQUIRED')
          ? 'To accept, open the link in the invitation mail, or sign out and sign in with a mailed code.'
          : explain(error),
      );
    }
  }

  function accept({ _id }: Invitation): Promise<void> {
    return answer(async () => {
      await client.invitations.accept({ invitation_id: _id, token: link?.invitationId === _id ? link.token : null });
      location.replace('#/tasks');
    });
  }

  return (
    <div class="stack">
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading your invitations" />}
      {value?.invitations.length === 0 && <p>{none}</p>}
      <ul class="companies">
        {value?.invitations.map((invitation) => (
          <li key={invitation._id} class="invitation">
            <p>
              <strong>{invitation.company_name}</strong>
              {invitation.invitedBy !== null && <span>Invited by {invitation.invitedBy}</span>}
            </p>
            <button type="button" class="button primary" onClick={() => void accept(invitation)}>
              Accept
            </button>
            <button
              type="button"
              class="button"
              onClick={() => void answer(async () => client.invitations.decline({ invitation_id: invitation._id }))}
            >
              Decline
            </button>
          </li>
        ))}
      </ul>
      <Problem text={refusal} />
    </div>
  );
}
