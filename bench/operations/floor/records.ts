import type { QueryResultRow } from 'pg';

/* Rows as they are answered: the same fields as the service's. */

const pictureOf = (companyId: number, pictureId: string | null): string | null =>
  pictureId === null ? null : `http://127.0.0.1/pictures/${companyId}/${pictureId}`;

export type Person = { employee_id: number; name: string; email: string; picture_id: string | null };
type Comment = Record<string, unknown> & { _id: number; reply_to: number | null; replies: Comment[] };

/** The constant fields of a new comment. */
export const unseen = {
  client_sender: null,
  mentioned_emails: [],
  reply_to: null,
  image: null,
  is_edited: false,
  is_deleted: false,
  edited_at: null,
};

/** The related rows of comments, as tuples that begin with the comment. */
type RelatedRows = {
  people: Person[];
  mentions: [number, number][];
  likes: [number, number][];
  views: [number, number, number][];
};

function byComment<Entry extends [number, ...number[]]>(entries: Entry[]): Map<number, Entry[]> {
  const lists = new Map<number, Entry[]>();
  for (const entry of entries) {
    const list = lists.get(entry[0]);
    if (list) list.push(entry);
    else lists.set(entry[0], [entry]);
  }
  return lists;
}

export function toComments(rows: QueryResultRow[], viewerId: number): Comment[] {
  if (rows.length === 0) return [];
  const related = rows[0]!['related'] as RelatedRows;
  const people = new Map(related.people.map((person) => [person.employee_id, person]));
  const named = (employee_id: number) => ({ employee_id, name: people.get(employee_id)!.name });
  const [mentions, likes, views] = [byComment(related.mentions), byComment(related.likes), byComment(related.views)];
  return rows.map((row) => {
    const commentId = row['comment_id'] as number;
    const sender = people.get(row['sender_id'] as number)!;
    const likers = (likes.get(commentId) ?? []).map(([, one]) => one);
    return {
      _id: commentId,
      taskId: row['task_id'],
      sender: {
        _id: sender.employee_id,
        name: sender.name,
        profilePicture: pictureOf(row['company_id'], sender.picture_id),
      },
      ClientSender: row['client_sender'],
      message: row['message'],
      mentionedEmails: row['mentioned_emails'],
      mentions: (mentions.get(commentId) ?? []).map(([, _id]) => ({ ...people.get(_id)!, _id })),
      reply_to: row['reply_to'] as number | null,
      image: row['image'],
      isEdited: row['is_edited'],
      isDeleted: row['is_deleted'],
      likes: likers.map(named),
      likeCount: likers.length,
      likedByMe: likers.includes(viewerId),
      seenBy: (views.get(commentId) ?? []).map(([, one, ms]) => ({ ...named(one), seenAt: new Date(ms) })),
      deepLink: `http://127.0.0.1/tasks/${row['task_id']}?comment=${commentId}`,
      createdAt: row['created_at'],
      editedAt: row['edited_at'],
      replies: [],
    };
  });
}

export function toThreads(comments: Comment[]): Comment[] {
  const byId = new Map(comments.map((comment) => [comment._id, comment]));
  return comments.filter((comment) => {
    const parent = comment.reply_to === null ? undefined : byId.get(comment.reply_to);
    parent?.replies.push(comment);
    return parent === undefined;
  });
}

export const toEmployee = (row: QueryResultRow) => ({
  _id: row['employee_id'],
  first_name: row['first_name'],
  last_name: row['last_name'],
  name: row['name'],
  email: row['email'],
  phone: row['phone'],
  designation: row['designation'],
  companyId: row['company_id'],
  salary: row['salary'],
  isAdmin: row['is_admin'],
  isTeamLeader: row['is_team_leader'],
  invitationStatus: row['account_id'] === null ? 'pending' : 'accepted',
  is_active: row['is_active'],
  isActive: row['is_active'],
  isDeleted: row['is_deleted'],
  date_of_birth: row['date_of_birth'],
  date_of_joining: row['date_of_joining'],
  gender: row['gender'],
  country_code: row['country_code'],
  profilePicture: pictureOf(row['company_id'], row['picture_id']),
  createdAt: row['created_at'],
  updatedAt: row['updated_at'],
});

export const toNotification = (row: QueryResultRow) => ({
  _id: row['notification_id'],
  recipient_id: row['recipient_id'],
  app_type: row['app_type'],
  category: row['category'],
  priorty: row['priority'],
  title: row['title'],
  message: row['message'],
  link: row['link'],
  actor: row['actor_id'] === null ? null : { _id: row['actor_id'], name: row['actor_name'] },
  taskId: row['task_id'],
  commentId: row['comment_id'],
  projectId: row['project_id'],
  isMention: row['is_mention'],
  read: row['is_read'],
  starred: row['is_starred'],
  later: row['is_later'],
  isArchive: row['is_archived'],
  createdAt: row['created_at'],
});

export const toTaskLog = (row: QueryResultRow) => ({
  _id: row['task_log_id'],
  taskId: row['task_id'],
  userId: row['employee_id'],
  projectId: row['project_id'],
  startTime: row['start_time'],
  endTime: row['end_time'],
  durationSeconds: row['duration_seconds'],
  description: row['description'],
  manualAdd: row['manual_add'],
  createdAt: row['created_at'],
  updatedAt: row['updated_at'],
});
