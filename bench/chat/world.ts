import { createTokens } from '../../server/platform/tokens.ts';
import type { Session } from './arrivals.ts';
import type { Cluster } from '../support/cluster.ts';
import { makeBed, type Bed } from '../support/database.ts';
import { headersOf } from '../support/headers.ts';
import { commentsPerTask } from '../support/seed-comments.ts';

export const longTaskComments = 5_000;
const shortTasks = 100;

/** A company in which people comment. */
export function makeChatBed(cluster: Cluster, report: (what: string) => void): Promise<Bed> {
  const comments = shortTasks * commentsPerTask + longTaskComments;
  const sizes = { employees: 200, projects: 20, tasks: 2_000, comments, notifications: 20_000, logs: 0 };
  return makeBed(cluster, { name: 'chat', sizes, waitsForDisk: true, report });
}

/** Half of the comments are on one task. Parts of the world, each with what one operation asks for. */
export async function prepareComments({ client, world }: Bed) {
  const { companyId, tasks, talkedOn } = world;
  const long = { first: talkedOn.first + shortTasks, count: 1 };
  await client.query(
    `update comments set task_id = ${long.first} where company_id = ${companyId} and task_id > ${long.first}`,
  );
  await client.query('vacuum (analyze)');
  return {
    short: { ...world, talkedOn: { first: talkedOn.first, count: shortTasks } },
    long: { ...world, talkedOn: long },
    listenedTo: tasks.first + tasks.count - 1,
  };
}

/** Further sessions of the caller, each with its headers. */
export async function signInAgain({ client, world }: Bed, keys: string, count: number): Promise<Session[]> {
  const { companyId, employeeId, accountId } = world;
  const tokens = await createTokens(keys);
  const { rows } = await client.query<{ session_id: string }>(`
    insert into sessions (account_id, company_id, employee_id, method, rotated_at, expires_at, created_at, last_used_at)
    select ${accountId}, ${companyId}, ${employeeId}, 'password', now(), now() + interval '1 day', now(), now()
    from generate_series(1, ${count}) returning session_id`);
  return Promise.all(rows.map(({ session_id }) => headersOf(tokens, Number(session_id))));
}
