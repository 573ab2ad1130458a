import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

/* What a third party writes once round the client that it generated: the session, refusals as errors, mails. */

const baseUrl = process.env['BASE_URL']!;

/** Every operation that was called, as the document names it. */
export const called = new Set<string>();

export type Pair = { access_token: string; refresh_token: string };

/** The service for somebody: with the pair of a session, with an API key, or without either. */
export function clientOf(proof?: Pair | string) {
  const client = createClient<paths>({ baseUrl });
  client.use({
    onRequest({ request, schemaPath }) {
      called.add(`${request.method} ${schemaPath}`);
      if (proof === undefined) return;
      request.headers.set('authorization', `Bearer ${typeof proof === 'string' ? proof : proof.access_token}`);
      if (typeof proof !== 'string') request.headers.set('x-refresh-token', proof.refresh_token);
    },
  });
  return client;
}

/** The answer, where there is one; a refusal is thrown. */
export async function answerOf<Data>(
  call: Promise<{ data?: Data; error?: { code: string; detail: string }; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await call;
  if (data === undefined) throw new Error(`${response.url} refused: ${error?.code} ${error?.detail}`);
  return data;
}

/** The code of a refusal that is expected. */
export async function codeOf(call: Promise<{ error?: { code: string } }>): Promise<string | undefined> {
  return (await call).error?.code;
}

/** The last line may still be on its way. */
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

/** What the last mail to an address says that `pattern` finds; mails are sent after the answer. */
export async function mailed(address: string, pattern: RegExp): Promise<string> {
  for (;;) {
    // The first mail makes the file.
    const lines = await readFile(process.env['MAIL_FILE'] ?? '', 'utf8').then(linesOf, () => []);
    const mails = lines.map((line) => JSON.parse(line) as { to: string; text: string });
    const found = pattern.exec(mails.findLast(({ to }) => to === address)?.text ?? '')?.[0];
    if (found !== undefined) return found;
    await delay(20);
  }
}
