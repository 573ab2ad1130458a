import { signal } from '@preact/signals';
import { isApiError, type Issue } from 'work-management-client';

/** A failure of something small, shown at the edge of the page until it is closed. */
export const failure = signal<string | null>(null);

/** What screen readers are told without moving there; two in a row of the same words are told twice. */
export const announcement = signal<{ text: string; number: number }>({ text: '', number: 0 });

export function announce(text: string): void {
  announcement.value = { text, number: announcement.peek().number + 1 };
}

/** A failure in a sentence for the person who caused it. */
export function explain(error: unknown): string {
  if (isApiError(error, 'NETWORK_ERROR', 'TIMEOUT')) return 'The service did not answer. Try again in a moment.';
  if (isApiError(error, 'RATE_LIMITED')) {
    const minutes = Math.ceil((error.retryAfterMs ?? 0) / 60_000);
    return `That was a lot at once. Try again in ${minutes > 1 ? `${minutes} minutes` : 'a minute'}.`;
  }
  if (isApiError(error) && error.issues.length > 0) return error.issues.map(issueInWords).join(' ');
  return error instanceof Error ? error.message : 'Something went wrong. Try again.';
}

/** `The task id must be at most 9.`: an issue begins with what it is about, unless it says that itself. */
function issueInWords({ path: [field], message }: Issue): string {
  if (field === undefined) return `${message}.`;
  return `The ${String(field)
    .replaceAll(/_|(?=[A-Z])/g, ' ')
    .toLowerCase()} ${message}.`;
}

/** Does something small; where it fails, says so at the edge of the page. Answers whether it was done. */
export async function attempt(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    failure.value = null;
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

/** Says at the edge of the page why something failed. A session that has ended shows the sign-in form, which says it. */
export function fail(error: unknown): void {
  if (!isApiError(error, 'SESSION_ENDED', 'INVALID_TOKEN')) failure.value = explain(error);
}
