import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Board } from './board/board.tsx';
import { me, session } from './client.ts';
import { Contained } from './contained.tsx';
import { Hours } from './hours/hours.tsx';
import { People } from './people/people.tsx';
import { PersonPage } from './people/person-page.tsx';
import { Preferences } from './preferences/preferences.tsx';
import { route, type Route } from './route.ts';
import { Announcer, AwayBanner, FailureNotice } from './shell/banner.tsx';
import { Header } from './shell/header.tsx';
import { Account } from './settings/account.tsx';
import { ApiKeys } from './settings/api-keys.tsx';
import { CompanySettings } from './settings/company.tsx';
import { ForgottenPassword } from './sign-in/forgotten-password.tsx';
import { InvitationPage } from './sign-in/invitations.tsx';
import { ResetPassword } from './sign-in/reset-password.tsx';
import { SignIn } from './sign-in/sign-in.tsx';
import { TaskPage } from './task/task-page.tsx';
import { PeriodLink } from './week/period-link.tsx';
import { Week } from './week/week.tsx';

export function App(): JSX.Element {
  return (
    <>
      <Page />
      <FailureNotice />
      <Announcer />
    </>
  );
}

function Page(): JSX.Element {
  const at = route.value;
  if (at.view === 'reset') return <ResetPassword token={at.token} />;
  if (at.view === 'forgotten') return <ForgottenPassword />;
  if (at.view === 'invitation' && session.value) return <InvitationPage {...at} />;
  return me.value ? <SignedIn key={me.value._id} /> : <SignIn />;
}

function SignedIn(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const at = route.value;
  const place = placeOf(at);
  const isFirst = useRef(true);

  // After following a link, reading goes on at the top of the new page.
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else if (!(at.view === 'task' && at.commentId !== null)) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
  }, [place]);

  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header />
      <AwayBanner />
      <main id="main" ref={main} tabIndex={-1}>
        <Contained key={place} what="This view" of={at}>
          {at.view === 'board' && <Board projectId={at.projectId} mine={at.mine} />}
          {at.view === 'task' && <TaskPage key={at.taskId} taskId={at.taskId} commentId={at.commentId} />}
          {at.view === 'hours' && <Hours />}
          {at.view === 'week' && <Week day={at.day} />}
          {at.view === 'period' && <PeriodLink key={at.periodId} periodId={at.periodId} />}
          {at.view === 'people' && <People />}
          {at.view === 'person' && <PersonPage key={at.employeeId} employeeId={at.employeeId} />}
          {at.view === 'account' && <Account />}
          {at.view === 'keys' && <ApiKeys />}
          {at.view === 'company' && <CompanySettings />}
          {at.view === 'preferences' && <Preferences />}
          {at.view === 'missing' && <Missing />}
        </Contained>
      </main>
    </>
  );
}

/** What is one page to a reader: a comment of a task is in the page of the task. */
function placeOf(at: Route): string {
  if (at.view === 'task') return `task ${at.taskId}`;
  if (at.view === 'period') return `period ${at.periodId}`;
  if (at.view === 'person') return `person ${at.employeeId}`;
  return at.view;
}

function Missing(): JSX.Element {
  return (
    <div class="empty card">
      <h1>There is nothing here</h1>
      <p>The address leads nowhere in this page.</p>
      <a class="button primary" href="#/tasks">
        Go to the board
      </a>
    </div>
  );
}
