import type { JSX } from 'preact';
import { Icon } from '../icon.tsx';
import { away } from '../network.ts';
import { announcement, failure } from '../notices.ts';

const sentences = {
  offline: 'You are offline. What you see may be out of date, and nothing can be sent until you are back.',
  unreachable: 'The service cannot be reached at the moment. Trying again…',
};

/** Says that nothing new arrives, as long as it is so. */
export function AwayBanner(): JSX.Element {
  return (
    <div class="banner-place" role="status">
      {away.value && (
        <p class="banner">
          <Icon name="away" />
          {sentences[away.value]}
        </p>
      )}
    </div>
  );
}

/** What went wrong with something small. */
export function FailureNotice(): JSX.Element {
  return (
    <div class="notice-place" role="alert">
      {failure.value !== null && (
        <div class="notice">
          <Icon name="warning" />
          <p>{failure.value}</p>
          <button type="button" class="icon-button small" aria-label="Close" onClick={() => (failure.value = null)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

/** For screen readers: what has come while they were elsewhere. */
export function Announcer(): JSX.Element {
  const { text, number } = announcement.value;
  return (
    <div class="visually-hidden" role="log" aria-live="polite" aria-label="What is new">
      <p key={number}>{text}</p>
    </div>
  );
}
