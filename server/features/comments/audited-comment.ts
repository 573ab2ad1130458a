import type { Db } from '../../../db/open.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import type { Services } from '../../kernel/context.ts';
import type { LockedComment } from './change-comment.ts';

/*
 * Comments in the audit log. It outlives the comments, so it has only a keyed digest of what people wrote: somebody who has the
 * text and the service's key can prove that this was it, and nobody can read it.
 */

type Content = { taskId: number; senderId: number; message: string | null; image: string | null };

const digestPurpose = 'audited comment';

export const contentOf = (comment: LockedComment): Content => ({
  taskId: comment.task_id,
  senderId: comment.sender_id,
  message: comment.message,
  image: comment.image,
});

/** Notes a change of a comment for the audit log. */
export function auditComment(
  { db, tokens, companyId }: { db: Db; tokens: Services['tokens']; companyId: number },
  verb: 'created' | 'edited' | 'deleted',
  { commentId, before, after }: { commentId: number; before: Content | null; after: Content | null },
): void {
  const digest = (text: string | null) => text && tokens.digest(digestPurpose, text);
  const shown = (content: Content | null) =>
    content && { ...content, message: digest(content.message), image: digest(content.image) };
  const change = { kind: 'comment', id: commentId, before: shown(before), after: shown(after) };
  noteChange(db, companyId, { event: `comment.${verb}`, ...change });
}
