import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { followMails, type Mail } from '../support/mail-file.ts';
import { endAllProcesses, makeHome, startProcess, type ServiceProcess } from '../support/process.ts';
import { createCaller, type Caller } from './caller.ts';
import { createPeople, type People } from './people.ts';
import { waitFor } from '../support/waiting.ts';

/*
 * The service seen from outside: a process as an operator starts it, and nothing of it but HTTP, WebSocket, server-sent events
 * and the mail file. The tests of this folder hold it against its two pages, the interface and the contract; each title is
 * one claim of a page. They import nothing of `server/`, `db/` or `client-sdk/`.
 */

export type Mails = {
  all(): Mail[];
  /** Does something and waits for the mail that it causes. */
  causedBy(act: () => Promise<unknown>, to: string, template: string): Promise<Mail>;
};

export type Outside = People & {
  url: string;
  mails: Mails;
  /** Where the mail file is. */
  folder: string;
  /** Somebody without credentials. */
  anonymous: Caller;
  process: ServiceProcess;
};

const settings = {
  SEED_DEMO: 'false',
  LOG_LEVEL: 'info',
  // What one machine asks in a test is more than one caller's share.
  RATE_LIMIT_PER_MINUTE: '1000000',
  DATABASE_CONNECTIONS: '8',
  APP_URL: 'https://app.example.test',
};

/** Starts a service for a test file, on the database that the run is about; it is ended after the file. */
export async function startOutside(environment: Record<string, string> = {}): Promise<Outside> {
  const home = await makeHome();
  afterAll(async () => {
    await endAllProcesses();
    await home.remove();
  });
  const started = await startProcess({ ...home.environment, ...settings, ...environment });
  const mails = openMails(join(home.folder, 'mail.jsonl'));
  const { url } = started;
  return {
    ...createPeople(url, mails),
    url,
    mails,
    folder: home.folder,
    anonymous: createCaller(url),
    process: started,
  };
}

function openMails(file: string): Mails {
  const all = followMails(file);
  return {
    all,
    async causedBy(act, to, template) {
      const before = all().length;
      await act();
      return waitFor(() => {
        const found = all()
          .slice(before)
          .find((mail) => mail.to === to && mail.template === template);
        expect(found, `a mail to ${to} by the template ${template}`).toBeDefined();
        return found!;
      });
    },
  };
}
