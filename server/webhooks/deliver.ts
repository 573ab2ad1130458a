import { disableWebhook } from '../features/webhooks/disable-webhook.ts';
import type { Services } from '../kernel/context.ts';
import { inTransaction } from '../kernel/in-transaction.ts';
import { createWebhookSigner } from '../platform/webhook-signature.ts';
import type { ClaimedMessage } from './claims.ts';
import { releaseMessage, writeOutcome, type Attempt, type Outcome } from './outcomes.ts';
import { failingMaxMs, parseRetryAfter, retryDelayMs } from './schedule.ts';
import { sendMessage, type Sent } from './send.ts';

export type DeliveryServices = Pick<
  Services,
  'database' | 'clock' | 'log' | 'tokens' | 'outbound' | 'streams' | 'wakeWorker' | 'wakeWebhooks'
>;

export type DeliveryOutcome = Outcome['state'] | 'released';

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
/** The receiver wants no more messages. */
const gone = 410;

/** Returns what sends a claimed message once and writes what came of it. */
export function createDelivery(
  services: DeliveryServices,
): (message: ClaimedMessage, stopping: AbortSignal) => Promise<DeliveryOutcome> {
  const { database, clock, log } = services;
  const sending = { ...services, signer: createWebhookSigner(services.tokens) };

  /** Disables an endpoint that is gone, or has failed for days, and tells the admins. */
  async function disable({ companyId, webhookId, url }: ClaimedMessage, because: 'gone' | 'failing'): Promise<void> {
    const now = clock.now();
    const webhook = { companyId, webhookId, because };
    const isDisabled = await inTransaction({ ...services, jobName: 'webhooks.disable' }, companyId, (db) =>
      disableWebhook(db, { ...webhook, url }, now),
    );
    if (isDisabled) log.warn(webhook, 'a webhook was disabled');
  }

  return async (message, stopping) => {
    const { companyId, webhookId, messageId, attempt: number } = message;
    const { db } = database.forCompany(companyId);
    const at = clock.now();
    const begun = performance.now();
    const sent = await sendMessage(message, sending, stopping).catch(() => undefined);
    if (!sent) {
      await releaseMessage(db, message);
      return 'released';
    }
    const attempt = attemptOf(sent, at, Math.round(performance.now() - begun));
    const now = clock.now();
    const outcome = outcomeOf(sent, number, now);
    const { failingSince } = await writeOutcome(db, message, attempt, outcome);
    if (outcome.state === 'delivered') return outcome.state;
    log.debug(
      { companyId, webhookId, messageId, attempt: number, status: attempt.status },
      'a webhook took no message',
    );
    if (attempt.status === gone) await disable(message, 'gone');
    else if (failingSince !== null && now.getTime() - failingSince.getTime() >= failingMaxMs)
      await disable(message, 'failing');
    return outcome.state;
  };
}

function attemptOf(sent: Sent, at: Date, durationMs: number): Attempt {
  if ('error' in sent) return { at, durationMs, status: null, error: sent.error, answer: null };
  return { at, durationMs, status: sent.status, error: null, answer: sent.text };
}

function outcomeOf(sent: Sent, attempt: number, now: Date): Outcome {
  if (!('error' in sent) && isSuccess(sent.status)) return { state: 'delivered' };
  const delayMs = retryDelayMs(attempt, 'error' in sent ? 0 : parseRetryAfter(sent.retryAfter, now));
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', dueAt: new Date(now.getTime() + delayMs) };
}
