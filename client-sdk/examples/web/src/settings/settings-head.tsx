import type { JSX } from 'preact';
import { route, type Route } from '../route.ts';

const tabs: readonly [view: Route['view'], href: string, name: string][] = [
  ['account', '#/account', 'Account'],
  ['keys', '#/api-keys', 'API keys'],
  ['preferences', '#/notification-preferences', 'Notifications'],
  ['company', '#/company', 'Company'],
];

/** The heading of a view of settings, and the way to the others. */
export function SettingsHead({ heading }: { heading: string }): JSX.Element {
  return (
    <>
      <div class="page-head settings-head">
        <h1>{heading}</h1>
      </div>
      <nav class="tabs" aria-label="Settings">
        {tabs.map(([view, href, name]) => (
          <a key={view} href={href} aria-current={route.value.view === view ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
    </>
  );
}
