import type { Flags, Parsed } from './flags.ts';
import type { Look } from './show.ts';

/** A command that people use often, written by hand on the client. */
export type Shortcut = {
  help: string;
  /** Words that stand behind it, for completion. */
  words?: readonly string[];
  flags: Flags;
  run(parsed: Parsed, call: ShortcutCall): Promise<void>;
};

export type ShortcutCall = {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  isJson: boolean;
  look(): Promise<Look>;
  print(text: string): void;
};

type Listed = {
  summary: string;
  load(): Promise<Shortcut>;
};

/** Each is loaded when it is called. */
export const shortcuts: Record<string, Listed> = {
  login: {
    summary: 'Sign in with a mailed code, a password or an API key',
    load: async () => (await import('./login.ts')).login,
  },
  logout: { summary: 'Sign out', load: async () => (await import('./logout.ts')).logout },
  whoami: { summary: 'Who is signed in, and where', load: async () => (await import('./whoami.ts')).whoami },
  log: { summary: 'Log time: wms log 2h "Winter fair"', load: async () => (await import('./log.ts')).log },
  timer: {
    summary: 'Start, stop, show or discard your timer',
    load: async () => (await import('./timer.ts')).timer,
  },
  watch: {
    summary: 'Show events while they happen, until Ctrl-C',
    load: async () => (await import('./watch.ts')).watch,
  },
  completion: {
    summary: 'A script that completes commands in bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completion,
  },
};

export const jsonFlags: Flags = { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } };
