import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
  type TRPCClient,
  type TRPCLink,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import { afterAll, describe, expect, test } from 'vitest';
import type { AppRouter } from '../../server/router.ts';
import { blur, openStockHandler } from '../support/stock-trpc.ts';
import { startService } from '../support/service.ts';
import { insertTask } from '../support/tasks.ts';
import { headersOf } from '../support/actor.ts';

const service = await startService();
const stock = await openStockHandler(service);
afterAll(() => stock.close());
const admin = await service.registerCompany();
const taskId = await insertTask(service, admin);
const me = { employee_id: admin.employeeId };
const headers = {
  ...headersOf(admin.pair),
  'x-request-id': 'the-same',
};

/** What a client sees of a few calls, and what went over the wire. */
async function scenario(url: string, linkTo: (url: string, fetch: typeof globalThis.fetch) => TRPCLink<AppRouter>) {
  const wire: string[] = [];
  const recording: typeof globalThis.fetch = async (...request) => {
    const answer = await fetch(...request);
    const type = answer.headers.get('content-type');
    const body = await answer.clone().text();
    // The lines of a stream come, and are numbered, in the order in which the calls happen to end.
    const lines = body.trimEnd().split('\n').length;
    const sent = lines > 1 ? `${lines} lines` : body;
    wire.push(`${answer.status} ${type} ${sent}`);
    return answer;
  };
  const client: TRPCClient<AppRouter> = createTRPCClient({ links: [linkTo(url, recording)] });
  const outcomes = await Promise.all(
    [
      client.employees.get.query(me),
      client.employees.get.query({ employee_id: 999_999 }),
      client.sessions.list.query(),
      client.employees.get.query({ employee_id: 'x' } as never),
    ].map((call) =>
      call.catch((error: unknown) => (error instanceof TRPCClientError ? { shape: error.shape as unknown } : error)),
    ),
  );
  const written = await Promise.all([
    client.comments.create.mutate({ taskId, sender: admin.employeeId, message: 'Ready' }),
    client.projects.create.mutate({ name: 'Engine' }),
  ]);
  return { outcomes: blur(JSON.stringify([outcomes, written])), wire: wire.map(blur).toSorted() };
}

const subscribing = (url: string): TRPCLink<AppRouter> =>
  httpSubscriptionLink({
    url,
    EventSource,
    eventSourceOptions: {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
    },
  });

describe('the stock client sees no difference', () => {
  test.each<[string, (url: string, fetch: typeof globalThis.fetch) => TRPCLink<AppRouter>]>([
    ['httpLink', (url, fetch) => httpLink({ url, headers, fetch: fetch as never })],
    ['httpBatchLink', (url, fetch) => httpBatchLink({ url, headers, fetch: fetch as never })],
    ['httpBatchStreamLink', (url, fetch) => httpBatchStreamLink({ url, headers, fetch: fetch as never })],
    [
      'splitLink with subscriptions',
      (url, fetch) =>
        splitLink({
          condition: ({ type }) => type === 'subscription',
          true: subscribing(url),
          false: httpBatchLink({ url, headers, fetch: fetch as never }),
        }),
    ],
  ])('through %s', async (_name, linkTo) => {
    const ours = await scenario(`${service.url}/trpc`, linkTo);
    const theirs = await scenario(`${stock.url}/trpc`, linkTo);
    expect(ours).toEqual(theirs);
    expect(ours.wire.length).toBeGreaterThan(1);
  });

  test('and hears events beside its calls', async () => {
    for (const url of [service.url, stock.url]) {
      const client = createTRPCClient<AppRouter>({ links: [subscribing(`${url}/trpc`)] });
      const message = `Heard through ${url}`;
      const heard = await new Promise((resolve, reject) => {
        const subscription = client.comments.onTask.subscribe(
          { taskId },
          {
            onStarted: () => void admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message }),
            onData: ({ data }) => {
              subscription.unsubscribe();
              resolve(data);
            },
            onError: reject,
          },
        );
      });
      expect(heard).toMatchObject({ type: 'comment.created', comment: { message } });
    }
  });
});
