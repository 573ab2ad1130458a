import type { JSX } from 'preact';
import { client, getMe } from '../client.ts';
import { Icon, type IconName } from '../icon.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import { Avatar, initialsOf } from '../parts.tsx';
import { route, weekHref } from '../route.ts';
import { nextTheme, theme } from '../theme.ts';
import { companyName, getMyself } from '../workspace.ts';
import { Bell } from './bell.tsx';
import { usePopover } from './popover.ts';
import { SearchBox } from './search-box.tsx';
import { TimerPill } from './timer-pill.tsx';

export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path d="M8 11.5 12 22l4-8 4 8 4-10.5" />
    </svg>
  );
}

export function Header(): JSX.Element {
  const { view } = route.value;
  return (
    <header class="top">
      <a class="brand" href="#/tasks">
        <Mark />
        <span>{companyName.value}</span>
      </a>
      <nav aria-label="Views">
        <NavLink href="#/tasks" icon="board" isCurrent={view === 'board' || view === 'task'}>
          Board
        </NavLink>
        <NavLink href="#/hours" icon="chart" isCurrent={view === 'hours'}>
          Hours
        </NavLink>
        <NavLink href={weekHref()} icon="sheet" isCurrent={view === 'week' || view === 'period'}>
          Week
        </NavLink>
        <NavLink href="#/people" icon="people" isCurrent={view === 'people' || view === 'person'}>
          People
        </NavLink>
      </nav>
      <SearchBox />
      <div class="top-tools">
        <TimerPill />
        <ThemeButton />
        <Bell />
        <PersonMenu />
      </div>
    </header>
  );
}

function NavLink({
  href,
  icon,
  isCurrent,
  children,
}: {
  href: string;
  icon: IconName;
  isCurrent: boolean;
  children: string;
}): JSX.Element {
  return (
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      {children}
    </a>
  );
}

const themeWords = { auto: 'as the system', light: 'light', dark: 'dark' };
const themeIcons = { auto: 'auto', light: 'sun', dark: 'moon' } as const;

export function ThemeButton(): JSX.Element {
  const words = `Colours: ${themeWords[theme.value]}. Change`;
  return (
    <button type="button" class="icon-button" aria-label={words} title={words} onClick={nextTheme}>
      <Icon name={themeIcons[theme.value]} />
    </button>
  );
}

function PersonMenu(): JSX.Element {
  const { isOpen, setOpen, box, button } = usePopover();
  const { email } = getMe();
  const { _id, name } = getMyself();
  return (
    <div class="popover-place" ref={box}>
      <button
        type="button"
        ref={button}
        class="person-button"
        aria-expanded={isOpen}
        aria-controls="person"
        aria-label={`Your account, ${name}, ${initialsOf(name)}`}
        onClick={() => setOpen(!isOpen)}
      >
        <Avatar id={_id} name={name} />
      </button>
      {isOpen && (
        <section class="popover person" id="person" aria-label="Your account">
          <p>
            <strong>{name}</strong>
            <span>{email}</span>
            <span>{companyName.value}</span>
          </p>
          <MenuLink href="#/account" icon="person" onFollow={() => setOpen(false)}>
            Account
          </MenuLink>
          <MenuLink href="#/notification-preferences" icon="bell" onFollow={() => setOpen(false)}>
            Notification preferences
          </MenuLink>
          <MenuLink href="#/company" icon="company" onFollow={() => setOpen(false)}>
            Company
          </MenuLink>
          <button
            type="button"
            class="button wide"
            onClick={() => void attempt(() => write(() => client.auth.logout()))}
          >
            <Icon name="out" />
            Sign out
          </button>
        </section>
      )}
    </div>
  );
}

function MenuLink({
  href,
  icon,
  onFollow,
  children,
}: {
  href: string;
  icon: IconName;
  onFollow(): void;
  children: string;
}): JSX.Element {
  return (
    <a class="button wide" href={href} onClick={onFollow}>
      <Icon name={icon} />
      {children}
    </a>
  );
}
