import type { JSX } from 'preact';

const paths = {
  board: 'M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v6h-4z',
  clock: 'M12 7v5l3 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z',
  search: 'M17 11a6 6 0 1 1-12 0 6 6 0 0 1 12 0zM15.5 15.5 20 20',
  chart: 'M4 20h16M7 16v-5M12 16V6M17 16v-8',
  bell: 'M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15zM10 21h4',
  sun: 'M12 3v2M12 19v2M5.6 5.6 7 7M17 17l1.4 1.4M3 12h2M19 12h2M5.6 18.4 7 17M17 7l1.4-1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0z',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  auto: 'M4 5h16v11H4zM9 20h6M12 16v4',
  play: 'M8 5.5v13l10-6.5z',
  stop: 'M7 7h10v10H7z',
  heart: 'M12 20s-7.5-4.6-7.5-10A4.2 4.2 0 0 1 12 7.5 4.2 4.2 0 0 1 19.5 10c0 5.4-7.5 10-7.5 10z',
  reply: 'M10 8 5 12.5 10 17M5 12.5h8a6 6 0 0 1 6 6',
  pencil: 'M5 19h3.5L19 8.5 15.5 5 5 15.5zM13 7.5l3.5 3.5',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 12.5h8L17 7',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  left: 'M14.5 6 8.5 12l6 6',
  right: 'M9.5 6l6 6-6 6',
  calendar: 'M4.5 6.5h15v13h-15zM4.5 10.5h15M8.5 4v4M15.5 4v4',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  sheet: 'M4.5 6.5h15v13h-15zM8.5 4v4M15.5 4v4M8.5 13l2.5 2.5 4.5-4.5',
  away: 'M3 3l18 18M8.5 16.5a5 5 0 0 1 7 0M5 13a10 10 0 0 1 4.5-2.6M15 10.5a10 10 0 0 1 4 2.5M2 9.5A15 15 0 0 1 6.5 6.6M11 5.1A15 15 0 0 1 22 9.5M12 20h.01',
  seen: 'M2.5 12.5 6.5 17 15 7.5M10.5 15.5l1.5 1.5 9-9.5',
  todo: 'M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0z',
  in_progress: 'M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0zM12 7.5V12l3 2',
  in_review:
    'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM14.5 12a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  done: 'M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0zM8.5 12.2l2.5 2.6 4.5-5.3',
  out: 'M14 4.5H5.5v15H14M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5',
  at: 'M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM16 8v5.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5',
  people:
    'M12 8.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM2.5 19.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5M15.5 5.3a3.5 3.5 0 0 1 0 6.4M17.5 14.9c2.2.6 3.7 2.2 4 4.6',
  person: 'M15.5 8.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM5 19.5c.5-3.2 3.3-5 7-5s6.5 1.8 7 5',
  company: 'M5 20V4.5h9V20M14 9.5h5V20M3 20h18M8 8h3M8 11.5h3M8 15h3',
  key: 'M13 11.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0zM13 11.5h8v3M17.5 11.5v2.5',
  copy: 'M9 9h10.5v10.5H9zM5.5 15H4.5V4.5H15v1',
  mail: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  warning: 'M12 4 2.5 20h19zM12 10v4.5M12 17.5h.01',
} as const;

export type IconName = keyof typeof paths;

/** A picture beside words: never the only thing that says something. */
export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }): JSX.Element {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      fill={filled ? 'currentColor' : 'none'}
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
