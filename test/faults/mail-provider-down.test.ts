import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer } from '../../db/open.ts';
import { createCaller, type Actor, type Answer, type TokenPair } from '../support/actor.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';
import { startSendGrid, type Behaviour, type SendGridServer, type Taken } from '../support/sendgrid.ts';
import { startWork } from '../support/work.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const apiKey = 'SG.the-key-of-a-test';
const patiently = { timeout: 90_000, interval: 5 };

/** Every way to be down, in turn; only the first ones hang, or the test would wait for them alone. */
function isDown(request: number): Behaviour {
  const ways: Behaviour[] = [
    { kind: 'refuse', status: 500 },
    { kind: 'refuse', status: 503, headers: { 'retry-after': '1' } },
    { kind: 'drop' },
    { kind: 'refuse', status: 429, body: { errors: [{ message: 'too many requests', field: null }] } },
    request < 60 ? { kind: request < 30 ? 'hang' : 'drip' } : { kind: 'drop', status: 502 },
  ];
  return ways[request % ways.length]!;
}

/** Three nodes on one database. Each reaches the provider by an address of its own, to tell who sends. */
async function startNodes() {
  const home = await makeHome();
  const providers = await Promise.all([1, 2, 3].map(() => startSendGrid(apiKey)));
  onTestFinished(async () => {
    await endAllProcesses();
    await Promise.all(providers.map((one) => one.close()));
    await home.remove();
  });
  const environment = {
    ...home.environment,
    ...asOneOfSeveral,
    SENDGRID_API_KEY: apiKey,
    MAIL_FROM: 'no-reply@example.com',
  };
  const startNode = async (provider: SendGridServer) => ({
    provider,
    process: await startProcess({ ...environment, SENDGRID_BASE_URL: provider.url }),
  });
  // The first one makes the schema and the keys.
  const first = await startNode(providers[0]!);
  const [second, third] = await Promise.all([startNode(providers[1]!), startNode(providers[2]!)]);
  return { home, environment, nodes: [first, second, third] as const };
}

/** Has each thing done by one of the nodes in turn, a few at a time. */
async function doAll<Item>(items: Item[], urls: string[], act: (url: string, item: Item) => Promise<Answer>) {
  const left = items.entries();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (const [index, item] of left) {
        const { status, body } = await act(urls[index % urls.length]!, item);
        if (status !== 200) throw new Error(JSON.stringify(body));
      }
    }),
  );
}

type Founder = TokenPair & { employee: { _id: number; companyId: number } };

/** Whichever node sends the code. */
async function register(url: string, providers: SendGridServer[]): Promise<Founder> {
  const email = 'ada@example.com';
  await createCaller(url).post('/get-register-otp/', { email });
  const mail = await waitUntil(() => providers.map(({ taken }) => taken.pop()).find(Boolean), patiently);
  const otp = /^\d{6}$/m.exec(mail.text)![0];
  const company = { company_name: 'Down', email, otp, first_name: 'Ada', last_name: 'Lovelace' };
  const { status, body } = await createCaller(url).post('/api/create-company-and-employee/', company);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body as Founder;
}

/** What is sent to whom, as one word to count by. */
const nameOf = ({ to, template }: Pick<Taken, 'to' | 'template'>): string => `${template} to ${to}`;

function countBy<Item>(items: Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

const colleagues = Array.from({ length: 35 }, (_, index) => `colleague${index}@example.com`);
const invited = Array.from({ length: 100 }, (_, index) => `invited${index}@example.com`);
const expected = [
  ...invited.map((to) => nameOf({ to, template: 'registration-code' })),
  ...['invitation', 'mention', 'password-reset', 'login-code'].flatMap((template) =>
    colleagues.map((to) => nameOf({ to, template })),
  ),
];

describe.skipIf(inject('template').kind === 'embedded')('a mail provider that is down while a node is killed', () => {
  test('costs no mail: all arrive once it is back and an operator has said so, and one more kill repeats one of them at most', async () => {
    const { home, environment, nodes } = await startNodes();
    const [first, second, third] = nodes;
    const all = nodes.map(({ process }) => process.url);
    const providers = nodes.map(({ provider }) => provider);
    const ada = await register(first.process.url, providers);
    const taken = () => providers.flatMap((provider) => provider.taken);
    const database = openServer(home.databaseUrl!);
    onTestFinished(() => database.close());
    const countJobs = async () => {
      const { rows } = await sql<{ queue: string; count: number }>`
        select queue, count(*) as count from jobs group by queue`.execute(database.db);
      return Object.fromEntries(rows.map((row) => [row.queue, row.count]));
    };

    for (const provider of providers) provider.behave(isDown);
    const asAda = (url: string) => createCaller(url, ada);
    const { companyId, _id: sender } = ada.employee;
    const { taskId } = await startWork(asAda(all[0]!) as Actor);
    await doAll(colleagues, all, (url, email) =>
      asAda(url).post('/employee/add/', { first_name: 'Grace', last_name: 'Hopper', companyId, email }),
    );
    await doAll(invited.slice(0, 50), all, (url, email) => createCaller(url).post('/get-register-otp/', { email }));
    await waitUntil(() => third.provider.countOpen() > 0, patiently);
    third.process.signal('SIGKILL');
    expect(await third.process.ended).toBe('SIGKILL');

    const both = all.slice(0, 2);
    await doAll(invited.slice(50), both, (url, email) => createCaller(url).post('/get-register-otp/', { email }));
    await doAll(colleagues, both, (url, email) => createCaller(url).post('/verify-email/', { email }));
    await doAll(colleagues, both, (url, email) => createCaller(url).post('/reset/link/', { email }));
    await doAll(colleagues, both, (url, email) =>
      asAda(url).post('/api/task-chats/', { taskId, sender, message: 'Look', mentionedEmails: [email] }),
    );
    await waitFor(async () => expect(await countJobs()).toEqual({ mail: expected.length }), patiently);
    expect(taken()).toEqual([]);

    for (const provider of providers) {
      provider.behave({ kind: 'take', answerAfterMs: 20 });
      provider.breakOff();
    }
    const told = await runToEnd(environment, [process.execPath, 'server/commands/jobs.ts', 'requeue', '--pending']);
    expect(told).toMatchObject({ code: 0, stderr: '' });

    // It has taken that one, and the node does not know yet.
    await waitUntil(() => second.provider.taken.length > 30 && second.provider.countOpen() === 1, patiently);
    second.process.signal('SIGKILL');
    expect(await second.process.ended).toBe('SIGKILL');
    expect(taken().length).toBeLessThan(expected.length);
    await waitFor(async () => expect(await countJobs()).toEqual({}), patiently);

    const arrived = countBy(taken(), nameOf);
    expect([...arrived.keys()].toSorted(byLetters)).toEqual(expected.toSorted(byLetters));
    expect(countBy(taken(), (mail) => mail.idempotencyKey).size).toBe(expected.length);
    // Of the first kill there can be none, for nothing was taken.
    expect(taken().length - expected.length).toBeLessThanOrEqual(1);
    for (const { process, provider } of nodes) {
      expect(provider.problems).toEqual([]);
      expect(process.stdout() + process.stderr()).not.toContain(apiKey);
    }

    first.process.signal('SIGTERM');
    expect(await first.process.ended).toBe(0);
  }, 180_000);
});

const byLetters = (a: string, b: string): number => a.localeCompare(b);
