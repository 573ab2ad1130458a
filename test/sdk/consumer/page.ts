import {
  createClient,
  isCompanyChoice,
  isApiError,
  keepSessionIn,
  type Answer,
  type Comment,
  type Input,
} from 'work-management-client';

/* What a page does with the client: checked by the compiler and bundled by Vite. */

const kept = keepSessionIn(localStorage);
export const client = createClient({
  baseUrl: '/',
  ...kept,
  onSession(session, change) {
    kept.onSession(session, change);
    document.title = session?.employee?.name ?? 'Sign in';
  },
});

export async function signIn(email: string, password: string): Promise<string | undefined> {
  try {
    const answer = await client.auth.login({ email, password });
    if (isCompanyChoice(answer))
      await client.chooseCompany(answer, { email, company_id: answer.companies[0]!.company_id });
    return undefined;
  } catch (error) {
    if (isApiError(error, 'INVALID_CREDENTIALS', 'RATE_LIMITED')) return error.message;
    throw error;
  }
}

export function count(comments: Comment[]): number {
  return comments.reduce((sum, { replies }) => sum + 1 + count(replies), 0);
}

export async function follow(taskId: number, signal: AbortSignal): Promise<void> {
  for await (const event of client.comments.onTask({ taskId }, { signal })) {
    switch (event.type) {
      case 'comment.seen':
        console.log(event.seenBy.name, event.commentIds.length);
        break;
      case 'stream.reset':
        console.log(count((await client.comments.listByTask({ task_id: taskId })).comments));
        break;
      default:
        console.log(event.comment?.sender.name, event.comment?.likeCount);
    }
  }
}

export const log = async (input: Input<'taskLogs.create'>): Promise<Answer<'taskLogs.create'>> =>
  client.taskLogs.create(input, { idempotencyKey: `log ${input.start_time}`, timeoutMs: 5_000 });
