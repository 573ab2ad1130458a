import { appendFileSync } from 'node:fs';

/* Loaded into a process of the service before its first file, and into whatever starts it: see held-responses.ts. */

if (process.argv[1]?.endsWith('server/main.ts')) {
  const { watchResponses } = await import('./watch-responses.ts');
  const file = process.env['HELD_RESPONSES_FILE']!;
  watchResponses((answered) => appendFileSync(file, `${JSON.stringify(answered)}\n`));
}
