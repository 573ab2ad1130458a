import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fuzz, type Failure } from './fuzz.ts';
import { followMailFile } from './mails.ts';
import { closeConnections } from './request.ts';
import { startFuzzed } from './service.ts';

/*
 * npm run fuzz -- [--requests 20000] [--seed N] [--concurrency 16]
 * On the embedded database, or on the PostgreSQL server that TEST_DATABASE_URL names.
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    concurrency: { type: 'string', default: '16' },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
/** An operation that never succeeds is not tried: with fewer requests than this there is no telling. */
const enough = 10_000;
/** No identity provider is set up, and an invitation is answered by a person who proved their address after it came. */
const cannotSucceed = new Set(['auth.googleLogin', 'auth.appleLogin', 'invitations.accept', 'invitations.decline']);

const serverUrl = process.env['TEST_DATABASE_URL'] || undefined;
const artifacts = fileURLToPath(new URL('../artifacts/', import.meta.url));
let bodies = 0;

function saveBody(bytes: Buffer): string {
  mkdirSync(artifacts, { recursive: true });
  const file = `${artifacts}fuzz-${seed}-${(bodies += 1)}.body`;
  writeFileSync(file, bytes);
  return file;
}

function show({ problems, count, answer, cause, curl, isRepeatable }: Failure): string {
  return [
    `\n✗ ${problems.join('\n  ')}`,
    `  in ${count} request${count === 1 ? '' : 's'}${isRepeatable ? '' : '; sent once more, it did not happen again'}`,
    `  answer: ${answer}`,
    ...(cause === undefined ? [] : [`  cause: ${cause.split('\n').slice(0, 6).join('\n    ')}`]),
    `  ${curl}`,
  ].join('\n');
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
say(`seed ${seed}: ${requests} requests on ${serverUrl === undefined ? 'the embedded database' : 'PostgreSQL'}`);
const service = await startFuzzed(serverUrl);
// The service is a process of its own: it ends with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void service.stop().finally(() => process.exit(1)));
const startedAt = performance.now();
const seconds = () => Math.round((performance.now() - startedAt) / 1000);
let shownAt = 0;
try {
  const report = await fuzz({
    baseUrl: service.url,
    mails: followMailFile(service.mailFile),
    causeOf: service.causeOf,
    requests,
    seed,
    saveBody,
    concurrency: Number(values.concurrency),
    onProgress(done, failures) {
      if (performance.now() - shownAt < 5000 && done < requests) return;
      shownAt = performance.now();
      say(`${done} of ${requests} after ${seconds()} s, ${failures} kinds of failure`);
    },
  });
  for (const failure of report.failures) say(show(failure));
  const missed = requests < enough ? [] : report.neverDone.filter((id) => !cannotSucceed.has(id));
  if (missed.length > 0) say(`\n✗ never answered 200, so hardly tried: ${missed.join(', ')}`);
  const stray = [...new Set(service.strayErrors())];
  for (const line of stray.slice(0, 10)) say(`\n✗ the service logged: ${line}`);
  const statuses = [...report.byStatus].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  say(
    `\n${requests} requests in ${seconds()} s (${statuses.join(', ')}), ${report.failures.length} kinds of failure; seed ${seed}`,
  );
  if (report.failures.length + missed.length + stray.length > 0) {
    say(`Again: npm run fuzz -- --requests ${requests} --seed ${seed}`);
    process.exitCode = 1;
  }
} finally {
  closeConnections();
  await service.stop();
}
