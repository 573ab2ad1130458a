import sharedClient from '@sendgrid/client';
import sharedService from '@sendgrid/mail';
import type { Clock } from '../platform/clock.ts';
import { MailNotTaken, sendWithinMs, type Mailer } from './mailer.ts';

// Both packages export their classes next to one instance for the whole process; their types declare the instance only.
const { Client } = sharedClient as unknown as { Client: new () => typeof sharedClient };
const { MailService } = sharedService as unknown as { MailService: new () => typeof sharedService };

/** The client sends requests with axios and accepts its defaults; the types declare fewer. */
type RequestDefaults = typeof sharedClient & {
  setDefaultRequest(key: 'baseUrl' | 'maxRedirects' | 'maxContentLength' | 'signal', value: unknown): unknown;
};

export type SendGridOptions = {
  apiKey: string;
  /** `address` or `name <address>`. */
  from: string;
  /** The address of the API; accounts of the EU region have a separate host. */
  baseUrl: string;
  clock: Clock;
  timeoutMs?: number;
};

/** More than any of its answers: something else at its address cannot fill the memory. */
const answerBytesMax = 64 * 1024;

/** Sends through SendGrid, with a separate client. */
export function createSendGridMailer(options: SendGridOptions): Mailer {
  const { apiKey, from, timeoutMs = sendWithinMs } = options;
  const client = createClient(options);
  const service = new MailService();
  service.setClient(client);
  return {
    async send({ to, subject, text, html, template }, { idempotencyKey }) {
      const message = {
        // As an object: SendGrid's client searches an address given as text for a name.
        to: { email: to },
        from,
        subject,
        text,
        html,
        categories: [template],
        customArgs: { idempotencyKey },
        // Codes and links must arrive unchanged.
        trackingSettings: { clickTracking: { enable: false, enableText: false }, openTracking: { enable: false } },
      };
      // The client's own time limit covers silence only, so a slow answer could last for ever. The request reads it
      // synchronously.
      client.setDefaultRequest('signal', AbortSignal.timeout(timeoutMs));
      await service.send(message).catch((error: unknown) => {
        const status = statusOf(error as ClientError);
        // The message was accepted, and only the rest of the answer was lost.
        if (status !== undefined && status >= 200 && status < 300) return;
        // Not as a cause: the client's errors contain the whole request with the key.
        throw toNotTaken(error as ClientError, { ...options, timeoutMs, secrets: [apiKey, ...secretsIn(text)] });
      });
    },
  };
}

function createClient({ apiKey, baseUrl }: SendGridOptions): RequestDefaults {
  const client = new Client() as RequestDefaults;
  client.setApiKey(apiKey);
  // After the key, because setting the key sets it too.
  client.setDefaultRequest('baseUrl', baseUrl);
  client.setDefaultRequest('maxRedirects', 0);
  client.setDefaultRequest('maxContentLength', answerBytesMax);
  return client;
}

/** An error of the client: an unsuccessful answer, or none at all. */
type ClientError = {
  code?: unknown;
  response?: { status?: number; headers?: Record<string, unknown>; body?: unknown };
};

const statusOf = ({ code, response }: ClientError): number | undefined =>
  response?.status ?? (typeof code === 'number' ? code : undefined);

/** The codes and links of a message, in case an answer quotes them: all words with a digit. */
const secretsIn = (text: string): string[] => text.split(/\s+/).filter((word) => word.length >= 6 && /\d/.test(word));

function toNotTaken(
  error: ClientError,
  { clock, timeoutMs, secrets }: { clock: Clock; timeoutMs: number; secrets: string[] },
): MailNotTaken {
  const { code, response } = error;
  const status = statusOf(error);
  if (status === undefined)
    return new MailNotTaken(
      code === 'ERR_CANCELED'
        ? `SendGrid did not answer within ${timeoutMs / 1000} seconds`
        : `SendGrid could not be reached, or broke off (${typeof code === 'string' ? code : 'no reason given'})`,
    );
  const reasons = reasonsIn(response?.body);
  const sentence = secrets.reduce((said, secret) => said.replaceAll(secret, '…'), reasons.map(inWords).join('; '));
  const told = [`SendGrid answered ${status}.`, adviceOn(status), sentence.slice(0, 400)];
  return new MailNotTaken(told.filter((part) => part !== '').join(' '), {
    // These two statuses concern the message, except for a sender address that an operator can correct, and a 400 that
    // does not come from SendGrid. All others concern the account, the key, the address of the API, or a temporary
    // problem.
    isRefused: status === 413 || (status === 400 && reasons.length > 0 && !reasons.some(isAboutSender)),
    retryAfterMs: status === 429 || status === 503 ? waitAskedFor(response?.headers ?? {}, clock) : undefined,
  });
}

function adviceOn(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'Check SENDGRID_API_KEY, that MAIL_FROM is a verified sender, and the credit of the account.';
    case 400:
      return 'Check the address, and MAIL_FROM.';
    default:
      return status === 429 || status === 408 || status === 413 || status >= 500 ? '' : 'Check SENDGRID_BASE_URL.';
  }
}

type Reason = { field: string; message: string };

const inWords = ({ field, message }: Reason): string => [field, message].filter((part) => part !== '').join(': ');
const isAboutSender = ({ field }: Reason): boolean => /^from\b/.test(field);

/** The reasons in an answer of the documented form; other answers may contain anything. */
function reasonsIn(body: unknown): Reason[] {
  const { errors } = (typeof body === 'object' && body !== null ? body : {}) as { errors?: unknown };
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return (Array.isArray(errors) ? errors : [])
    .map((error: { field?: unknown; message?: unknown } | null) => ({
      field: text(error?.field),
      message: text(error?.message),
    }))
    .filter((reason) => inWords(reason) !== '');
}

/** Retry-After in seconds or as a date; else the header that SendGrid documents, in seconds since 1970. */
function waitAskedFor(headers: Record<string, unknown>, clock: Clock): number | undefined {
  const now = clock.now().getTime();
  const after = headers['retry-after'];
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN) * 1000;
  const asked =
    typeof after !== 'string' ? reset - now : /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  return Number.isFinite(asked) ? Math.max(0, asked) : undefined;
}
