import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Answered } from './document-check.ts';

/*
 * Every REST answer of every service that a test file starts, in its own process or in others, is held against
 * /openapi.json. One that the document does not describe fails the file that asked for it.
 */

let total = { checked: 0, undeclared: 0 };
const problems = new Set<string>();

/** Where processes that a test file starts write their answers, a line for each. */
const report = join(tmpdir(), `wms-answers-${randomUUID()}.jsonl`);

/** Counts an answer that the document is about, and keeps what is wrong with it for the end of the file. */
export function countResponse(found: string[] | undefined): void {
  if (found === undefined) return;
  total.checked += 1;
  if (found.length > 0) total.undeclared += 1;
  for (const problem of found) problems.add(problem);
}

/** Has a process of Node write its answers down, to be held at the end of the file; for before its first file. */
export const holdingItsResponses = {
  parameters: ['--import', join(import.meta.dirname, 'held-process.ts')],
  environment: { HELD_RESPONSES_FILE: report },
};

/** For the end of a test file, when everything is closed: adds its answers to the total, and fails where one was wrong. */
export async function reportResponses(): Promise<void> {
  if (existsSync(report)) {
    // Not loaded for files that ask no service.
    const { checkResponse } = await import('./check-response.ts');
    const answers = readAnswers();
    // First, so that what is wrong with one of them is not told of the next file as well.
    rmSync(report);
    for (const answered of answers) countResponse(checkResponse(answered));
  }
  appendFileSync(inject('responsesFile'), `${JSON.stringify(total)}\n`);
  const found = [...problems];
  total = { checked: 0, undeclared: 0 };
  problems.clear();
  if (found.length === 0) return;
  throw new Error(`answers that /openapi.json does not describe:\n${found.slice(0, 50).join('\n')}`);
}

/** What the processes of this file have answered so far. */
export function readAnswers(): Answered[] {
  const lines = readFileSync(report, 'utf8').trimEnd().split('\n');
  return lines.flatMap((line) => {
    try {
      return JSON.parse(line) as Answered;
    } catch {
      // A process was killed while it wrote.
      return [];
    }
  });
}
