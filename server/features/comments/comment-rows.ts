import { sql } from 'kysely';
import { compiled, compiledFor, type ValueOrPlaceholder } from '../../../db/pipeline/compiled.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';

/** Up to this many comments, and mentions, likes or views, the comments of a task are read at once. */
export const fewCommentsMax = 100;
export const fewPeopleMax = 10_000;

/** Selects the comments of a task, or comments by identifier. */
type By = { taskId: ValueOrPlaceholder<number> } | { commentIds: ValueOrPlaceholder<number[]> };

/** Comments on visible tasks of a company. */
export const selectVisibleComments = (db: Db, companyId: ValueOrPlaceholder<number>) =>
  selectVisibleTasks(db, companyId).innerJoin('comments as c', (join) =>
    join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
  );

/** Some of them. People are in it by identifier: see {@link readComments}. */
function selectComments(db: Db, companyId: ValueOrPlaceholder<number>, which: By) {
  return selectVisibleComments(db, companyId)
    .$call((query) =>
      'taskId' in which
        ? query
            .where('c.task_id', '=', which.taskId)
            .orderBy('c.comment_id')
            .limit(sql.lit(fewCommentsMax + 1))
        : query.where('c.comment_id', '=', sql<number>`any(${list(which.commentIds, 'bigint')})`),
    )
    .select([
      'c.company_id',
      'c.comment_id',
      'c.task_id',
      'c.sender_id',
      'c.client_sender',
      'c.message',
      'c.mentioned_emails',
    ])
    .select(['c.reply_to', 'c.image', 'c.is_edited', 'c.is_deleted', 'c.created_at', 'c.edited_at']);
}

export type CommentRow = Awaited<ReturnType<ReturnType<typeof selectComments>['execute']>>[number];
export type Person = { employee_id: number; name: string; email: string; picture_id: string | null };

/** The related rows of comments, as tuples that begin with the comment: [comment, employee], or with the time in ms. */
export type RelatedRows = {
  people: Person[];
  mentions: [number, number][];
  likes: [number, number][];
  views: [number, number, number][];
};

type Named = { companyId: number; taskId?: number; commentIds?: number[] };

/**
 * Comments in the order of their creation, without replies, of a task or by identifier. One statement: its first row
 * also holds the related rows of all comments, and each person once. Subqueries per row cost twice as much; joining
 * people to every like and view costs more again, and most when the planner's statistics are outdated.
 */
export const readComments = compiledFor<'taskId' | 'commentIds', Named, CommentRow & { related: RelatedRows | null }>(
  (db, placeholder, by) => {
    const companyId = placeholder('companyId');
    const which = { [by]: placeholder(by) } as By;
    const relatedRows = (table: 'comment_mentions' | 'comment_likes' | 'comment_views') => sql`
    from ${sql.table(table)} where company_id = ${companyId} and comment_id = any(array(select comment_id from chosen))
    ${by === 'taskId' ? sql`limit ${sql.lit(fewPeopleMax + 1)}` : sql``}`;
    return sql<CommentRow & { related: RelatedRows | null }>`
    with chosen as materialized (${selectComments(db, companyId, which)}),
    mentions as materialized (select comment_id, employee_id ${relatedRows('comment_mentions')}),
    likes as materialized (select comment_id, employee_id, created_at ${relatedRows('comment_likes')}),
    views as materialized (select comment_id, employee_id, seen_at ${relatedRows('comment_views')})
    select chosen.*, case when row_number() over (order by comment_id) = 1 then json_build_object(
      'people', (
        select json_agg(json_build_object(
          'employee_id', e.employee_id, 'name', e.name, 'email', e.email, 'picture_id', e.picture_id))
        from employees as e
        where e.company_id = ${companyId} and e.employee_id = any(array(
          select sender_id from chosen union all select employee_id from mentions
          union all select employee_id from likes union all select employee_id from views
        ))
      ),
      'mentions', array(select array[comment_id, employee_id] from mentions order by employee_id),
      'likes', array(select array[comment_id, employee_id] from likes order by created_at, employee_id),
      'views', array(
        select array[comment_id, employee_id, (extract(epoch from seen_at) * 1000)::bigint]
        from views order by seen_at, employee_id
      )
    ) end as related
    from chosen order by comment_id`.compile(db);
  },
);

/** The author of a new comment. */
export async function findPerson(db: Db, companyId: number, employeeId: number): Promise<Person> {
  const [person] = await readPerson(db, { companyId, employeeId });
  return person!;
}

const readPerson = compiled<{ companyId: number; employeeId: number }, Person>((db, placeholder) =>
  db
    .selectFrom('employees')
    .where('company_id', '=', placeholder('companyId'))
    .where('employee_id', '=', placeholder('employeeId'))
    .select(['employee_id', 'name', 'email', 'picture_id'])
    .compile(),
);
