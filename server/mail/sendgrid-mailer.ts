import sharedClient from '@sendgrid/client';
import sharedService from '@sendgrid/mail';
import type { Clock } from '../platform/clock.ts';
import { MailNotTaken, sendWithinMs, type Mailer } from './mailer.ts';

// Both export their classes beside one instance for the whole process, of which alone their types tell.
const { Client } = sharedClient as unknown as { Client: new () => typeof sharedClient };
const { MailService } = sharedService as unknown as { MailService: new () => typeof sharedService };

/** Its requests are axios's, and so are the defaults that they take; the types name fewer. */
type RequestDefaults = typeof sharedClient & {
  setDefaultRequest(key: 'baseUrl' | 'maxRedirects' | 'maxContentLength' | 'signal', value: unknown): unknown;
};

export type SendGridOptions = {
  apiKey: string;
  /** `address` or `name <address>`. */
  from: string;
  /** Where the API is; accounts of the EU region have a host of their own. */
  baseUrl: string;
  clock: Clock;
  timeoutMs?: number;
};

/** More than any of its answers, so that something else at its address cannot fill the memory. */
const answerBytesMax = 64 * 1024;

/** Sends through SendGrid, by a client of its own. */
export function createSendGridMailer(options: SendGridOptions): Mailer {
  const { apiKey, from, timeoutMs = sendWithinMs } = options;
  const client = createClient(options);
  const service = new MailService();
  service.setClient(client);
  return {
    async send({ to, subject, text, html, template }, { idempotencyKey }) {
      const message = {
        // As an object: an address as text is searched for a name.
        to: { email: to },
        from,
        subject,
        text,
        html,
        categories: [template],
        customArgs: { idempotencyKey },
        // Codes and links must arrive as they were written.
        trackingSettings: { clickTracking: { enable: false, enableText: false }, openTracking: { enable: false } },
      };
      // The client's own time limit ends only silence, so a slow answer could last for ever. The request reads it at once.
      client.setDefaultRequest('signal', AbortSignal.timeout(timeoutMs));
      await service.send(message).catch((error: unknown) => {
        const status = statusOf(error as ClientError);
        // Taken, and only the rest of the answer was lost.
        if (status !== undefined && status >= 200 && status < 300) return;
        // Not as a cause: the client's errors carry the whole request, and the key with it.
        throw toNotTaken(error as ClientError, { ...options, timeoutMs, secrets: [apiKey, ...secretsIn(text)] });
      });
    },
  };
}

function createClient({ apiKey, baseUrl }: SendGridOptions): RequestDefaults {
  const client = new Client() as RequestDefaults;
  client.setApiKey(apiKey);
  // After the key, which sets it too.
  client.setDefaultRequest('baseUrl', baseUrl);
  client.setDefaultRequest('maxRedirects', 0);
  client.setDefaultRequest('maxContentLength', answerBytesMax);
  return client;
}

/** What its client throws: an answer other than a success, or a failure to get any. */
type ClientError = {
  code?: unknown;
  response?: { status?: number; headers?: Record<string, unknown>; body?: unknown };
};

const statusOf = ({ code, response }: ClientError): number | undefined =>
  response?.status ?? (typeof code === 'number' ? code : undefined);

/** Codes and links of a message, should an answer quote it: they are what has a digit in it. */
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
    // These two are about the message, but for a sender that an operator can mend, and for a 400 of somebody else's. All
    // others are about the account, the key, the address of the API, or the moment.
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

/** The reasons in an answer of the documented form; anything else may be anything. */
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

/** Seconds or a date in Retry-After; else the moment in the header that SendGrid documents, in seconds since 1970. */
function waitAskedFor(headers: Record<string, unknown>, clock: Clock): number | undefined {
  const now = clock.now().getTime();
  const after = headers['retry-after'];
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN) * 1000;
  const asked =
    typeof after !== 'string' ? reset - now : /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  return Number.isFinite(asked) ? Math.max(0, asked) : undefined;
}
