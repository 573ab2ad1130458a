import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';

/*
 * Every REST answer of every service that a test file starts, in its own process or in others, is held against
 * /openapi.json. One that the document does not describe fails the file that asked for it.
 */

let total = { checked: 0, undeclared: 0 };
const problems = new Set<string>();

/** Where processes that a test file starts write what became of their answers, a line for each. */
const report = join(tmpdir(), `wms-answers-${randomUUID()}.jsonl`);

/** Counts an answer, and keeps what is wrong with it for the end of the file. */
export function countResponse(found: string[]): void {
  total.checked += 1;
  if (found.length > 0) total.undeclared += 1;
  for (const problem of found) problems.add(problem);
}

/** Has a process of Node do the same; for before its first file. */
export const holdingItsResponses = {
  parameters: ['--import', join(import.meta.dirname, 'held-process.ts')],
  environment: { HELD_RESPONSES_FILE: report },
};

/** For the end of a test file, when everything is closed: adds its answers to the total, and fails where one was wrong. */
export function reportResponses(): void {
  if (existsSync(report)) {
    for (const line of readFileSync(report, 'utf8').trimEnd().split('\n')) countResponse(JSON.parse(line) as string[]);
    rmSync(report);
  }
  appendFileSync(inject('responsesFile'), `${JSON.stringify(total)}\n`);
  const found = [...problems];
  total = { checked: 0, undeclared: 0 };
  problems.clear();
  if (found.length === 0) return;
  throw new Error(`answers that /openapi.json does not describe:\n${found.slice(0, 50).join('\n')}`);
}
