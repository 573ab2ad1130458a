import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Member } from '../../kernel/context.ts';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { idOf, ownId } from '../../kernel/wire/fields.ts';
import { findEmployee } from '../employees/queries.ts';
import { lockVisibleComment, type LockedComment } from './change-comment.ts';

export const likeInput = z.object({ employee_id: ownId(), comment_id: idOf('comment') });
export const Likes = z.object({ likeCount: z.int(), likedByMe: z.boolean() });

/** Locks the comment that the caller is about to like or unlike, for themself. */
export async function lockForOwnLike(db: Db, caller: Member, input: z.infer<typeof likeInput>): Promise<LockedComment> {
  const comment = await lockVisibleComment(db, caller.companyId, input.comment_id);
  if (!comment) throw NOT_FOUND();
  if (input.employee_id === caller.employeeId) return comment;
  const colleague = await findEmployee(db, caller.companyId, input.employee_id);
  throw colleague ? FORBIDDEN({ detail: 'A like is given and taken back by oneself only.' }) : NOT_FOUND();
}

export async function countLikes(db: Db, companyId: number, commentId: number): Promise<number> {
  const { count } = await db
    .selectFrom('comment_likes')
    .where('company_id', '=', companyId)
    .where('comment_id', '=', commentId)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
