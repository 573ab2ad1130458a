import type { Range } from './world.ts';

export const commentsPerTask = 50;
/** The number of people who write, like and view: answers contain names, so several people write. */
export const commenters = 30;

/** Fifty comments a task, of which ten answer another; each has two likes and was seen by two, the caller among them. */
export async function seedComments(
  step: (what: string, statement: string) => Promise<void>,
  { companyId, employees, tasks }: { companyId: number; employees: Range; tasks: Range },
  comments: number,
): Promise<void> {
  const person = (offset: string) => `${employees.first} + 1 + (${offset}) % ${commenters}`;
  await step(
    `${comments} comments`,
    `insert into comments (company_id, task_id, sender_id, message, created_at)
    select ${companyId}, ${tasks.first} + n / ${commentsPerTask}, ${person('n')},
      '<p>It works since this morning: the ' || n || 'th card goes through the mill, and <b>nothing</b> jams any more.</p>',
      now() - (${comments} - n) * interval '1 second'
    from generate_series(0, ${comments - 1}) as n`,
  );
  await step(
    'replies',
    `update comments set reply_to = comment_id - 2 where company_id = ${companyId} and comment_id % 5 = 0
      and exists (
        select from comments as p
        where p.company_id = comments.company_id and p.comment_id = comments.comment_id - 2 and p.task_id = comments.task_id
      )`,
  );
  await step(
    'likes and views',
    `with liked as (
      insert into comment_likes (company_id, comment_id, employee_id, created_at)
      select company_id, comment_id, ${person('comment_id + k')}, created_at from comments
      cross join generate_series(1, 2) as k where company_id = ${companyId}
    )
    insert into comment_views (company_id, comment_id, employee_id, seen_at)
    select company_id, comment_id, case k when 1 then ${employees.first} else ${person('comment_id')} end, created_at
    from comments cross join generate_series(1, 2) as k where company_id = ${companyId}`,
  );
}
