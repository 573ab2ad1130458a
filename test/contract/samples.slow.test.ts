import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { identifiersIn, type Kind } from '../../server/kernel/wire/identifiers.ts';
import { appRouter } from '../../server/router.ts';
import { startIssuer } from '../support/issuer.ts';
import { makeCheckout, runShell, startIn } from '../support/pages.ts';
import { endAllProcesses, makeHome, type Home, type ServiceProcess } from '../support/process.ts';

/*
 * The commands that /docs shows with each operation, run as the page tells its reader: set the variables, in the service's
 * folder and with its demo company, and paste.
 */

const timeout = 180_000;
const google = await startIssuer(() => new Date());
const apple = await startIssuer(() => new Date());
const { folder, remove } = await makeCheckout();
let home: Home;
let service: ServiceProcess;
/** Each operation's command, by its name. */
const samples = new Map<string, string>();
let preparation: string;
let fromMail: string;
const statuses = new Map<string, string>();

beforeAll(async () => {
  home = await makeHome();
  const { DATABASE_URL = '' } = home.environment;
  service = await startIn(folder, {
    DATABASE_URL,
    GOOGLE_ISSUER: google.issuer,
    GOOGLE_JWKS_URL: google.jwksUrl,
    GOOGLE_CLIENT_IDS: google.audience,
    APPLE_ISSUER: apple.issuer,
    APPLE_JWKS_URL: apple.jwksUrl,
    APPLE_CLIENT_IDS: apple.audience,
  });
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    info: { description: string };
    paths: Record<string, Record<string, { operationId: string; 'x-codeSamples': { source: string }[] }>>;
  };
  const shown = [...document.info.description.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text!);
  [preparation = '', fromMail = ''] = shown;
  for (const { operationId, 'x-codeSamples': shells } of Object.values(document.paths).flatMap((one) =>
    Object.values(one),
  ))
    samples.set(operationId, shells[0]!.source);
}, timeout);
afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.ended;
  await endAllProcesses();
  await remove();
  await home?.remove();
});

/** Has a company that is registered for it invite the person of the demo sign-in; answers the variables of its mail. */
async function invite(): Promise<Record<string, string>> {
  const said = await runShell(
    folder,
    `${preparation}
    boss=boss-$RANDOM$RANDOM@example.com
    invited() { { grep '"template":"invitation"' .data/mail.jsonl | grep '"to":"'$email'"' | tail -n 1; } || true; }
    before=$(invited)
    curl -sS $base/get-register-otp/ -H 'Content-Type: application/json' -d '{"email": "'$boss'"}' > /dev/null
    until grep -q "$boss" .data/mail.jsonl; do sleep 0.1; done
    code=$(grep "$boss" .data/mail.jsonl | field 'text.match(/\\b\\d{6}\\b/)[0]')
    login=$(curl -sS $base/api/create-company-and-employee/ -H 'Content-Type: application/json' -d '{"email": "'$boss'",
      "otp": "'$code'", "company_name": "Inviters", "first_name": "Joan", "last_name": "Clarke"}')
    access_token=$(echo "$login" | field access_token)
    refresh_token=$(echo "$login" | field refresh_token)
    api /employee/add/ -d '{"first_name": "Ada", "last_name": "Lovelace", "email": "'$email'",
      "companyId": '$(echo "$login" | field company.company_id)'}' > /dev/null
    until [ "$(invited)" != "$before" ]; do sleep 0.1; done
    invitation=$(invited | field 'text.match(/invitations\\/(\\d+)/)[1]')
    invitation_token=$(invited | field 'text.match(/token=([\\w-]+)/)[1]')
    echo "@@ $invitation $invitation_token"`,
  );
  const [, invitation = '', invitation_token = ''] = /^@@ (\S+) (\S+)$/m.exec(said) ?? [];
  return { invitation, invitation_token };
}

/** The command of an operation, which also tells the status. */
const sample = (name: string): string =>
  samples.get(name)!.replace(/^curl /, `curl -sS -w '\\n@@ ${name} %{http_code}\\n' `);

/** Runs commands with the variables set, and keeps what each operation answered. */
async function run(commands: string[], environment: Record<string, string> = {}): Promise<void> {
  const said = await runShell(folder, [preparation, ...commands].join('\n'), environment);
  const answers = said.split(/^@@ (\S+) (\d+)$/m);
  for (let at = 1; at < answers.length; at += 3) {
    const status = answers[at + 1]!;
    statuses.set(answers[at]!, status === '200' ? status : `${status} ${answers[at - 1]}`);
  }
}

/** Those that a mail must come before, after the one that sends it. */
const byMail = [
  ['registration.requestCode', 'registration.registerCompany'],
  ['auth.verifyEmail', 'auth.otpLogin'],
  ['passwords.requestReset', 'passwords.reset'],
] as const;
/** What another company's invitation must come before. */
const byInvitation = ['invitations.decline'];
/** Afterwards the demo's person is in two companies, and a sign-in asks which. */
const accepting = 'invitations.accept';
const byProvider = ['auth.googleLogin', 'auth.appleLogin'];
/** What ends the session that it is called in: each is a run of its own. */
const endingSession = ['auth.logout', 'auth.tokenLogin'];
/** No further run can sign in with the password of the demo sign-in. */
const changingPassword = 'passwords.change';

/** How much hangs on a thing: those with less are removed first. */
const weights: Record<Kind, number> = {
  invitation: 0,
  notification: 0,
  comment: 0,
  taskLog: 0,
  rate: 0,
  period: 0,
  apiKey: 0,
  session: 0,
  webhookDelivery: 0,
  export: 0,
  webhook: 1,
  task: 1,
  project: 2,
  colleague: 3,
  employee: 4,
  company: 5,
};

/** Reads, then what makes things, then what changes them, then what removes them: each thing after those that hang on it. */
function inOrder(operations: Operation[]): string[] {
  const stepOf = ({ method, pathParameters }: Operation): number =>
    method === 'GET' ? 0 : method === 'DELETE' ? 3 : pathParameters.length === 0 ? 1 : 2;
  const weightOf = ({ input }: Operation): number =>
    Math.min(...(input ? identifiersIn(input) : []).map(({ kind }) => weights[kind]));
  return operations
    .toSorted((a, b) => {
      const difference = stepOf(a) - stepOf(b);
      if (difference !== 0 || stepOf(a) < 2) return difference;
      // What is removed from a thing is removed before the thing itself.
      return weightOf(a) - weightOf(b) || b.path.length - a.path.length;
    })
    .map(({ name }) => name);
}

const methodOf = new Map(operationsOf(appRouter).map(({ name, method }) => [name, method]));

describe('the command that is shown with', () => {
  test('what a mail is needed for runs, in the order of the mails', { timeout }, async () => {
    const mails = 'wc -l < .data/mail.jsonl 2> /dev/null || echo 0';
    const commands = byMail.flatMap(([sends, takes]) => [
      `before=$(${mails})`,
      sample(sends),
      `until [ "$(${mails})" -gt "$before" ]; do sleep 0.1; done`,
      // Each mail brings one of the two.
      fromMail.split('\n').find((line) => line.startsWith(takes === 'passwords.reset' ? 'reset_token' : 'code'))!,
      sample(takes),
    ]);
    await run(commands);
    for (const name of byMail.flat()) expect([name, statuses.get(name)]).toEqual([name, '200']);
  });

  test('a sign-in through a provider runs with that provider’s token', { timeout }, async () => {
    const ada = { email: 'ada@example.com' };
    await run(byProvider.map(sample), { google_token: await google.sign(ada), apple_token: await apple.sign(ada) });
    for (const name of byProvider) expect([name, statuses.get(name)]).toEqual([name, '200']);
  });

  test('what ends the session runs, and what declines an invitation', { timeout }, async () => {
    for (const name of endingSession) await run([sample(name)]);
    for (const name of byInvitation) await run([sample(name)], await invite());
    for (const name of [...endingSession, ...byInvitation]) expect([name, statuses.get(name)]).toEqual([name, '200']);
  });

  test('all else runs, one after the other', { timeout }, async () => {
    const last = [changingPassword, accepting];
    // Behind what changes the colleague, and the name of the company, which closing it repeats.
    const final = ['employees.erase', 'company.close', 'company.reopen'];
    // A timer ends once, so that each way to end it has its own.
    const endings = ['timers.start', 'timers.stop', 'timers.start', 'timers.discard'];
    const elsewhere = new Set([
      ...byMail.flat(),
      ...byProvider,
      ...byInvitation,
      ...endingSession,
      ...last,
      ...endings,
      ...final,
    ]);
    const others = inOrder(operationsOf(appRouter)).filter((name) => !elsewhere.has(name));
    const deletions = others.findIndex((name) => methodOf.get(name) === 'DELETE');
    const names = [...others.slice(0, deletions), ...endings, ...others.slice(deletions), ...final, ...last];
    expect(names.length).toBeGreaterThan(50);
    await run(names.map(sample), await invite());
    const refused = names.map((name) => [name, statuses.get(name)]).filter(([, status]) => status !== '200');
    expect(refused).toEqual([]);
  });

  test('every operation is one of these', () => {
    expect(new Set(statuses.keys())).toEqual(new Set(samples.keys()));
    expect(samples.size).toBeGreaterThanOrEqual(40);
  });
});
