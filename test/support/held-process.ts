import { appendFileSync } from 'node:fs';
import { watchResponses } from './watch-responses.ts';

/* Loaded into a process of the service before its first file: see held-responses.ts. */

const file = process.env['HELD_RESPONSES_FILE']!;

watchResponses((problems) => appendFileSync(file, `${JSON.stringify(problems)}\n`));
