import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where each test file says how many answers it held against the document. */
    responsesFile: string;
  }
}

const file = join(tmpdir(), `wms-responses-${randomUUID()}.jsonl`);

export function setup(project: TestProject): void {
  project.provide('responsesFile', file);
}

/** Says after the last file how many answers were held against the document, and writes it where RESPONSES_TOTAL says. */
export function teardown(): void {
  const total = { checked: 0, undeclared: 0 };
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  for (const line of lines) {
    const { checked, undeclared } = JSON.parse(line) as typeof total;
    total.checked += checked;
    total.undeclared += undeclared;
  }
  rmSync(file, { force: true });
  process.stdout.write(`${total.checked} answers held against /openapi.json, ${total.undeclared} undeclared\n`);
  const written = process.env['RESPONSES_TOTAL'];
  if (written !== undefined && written !== '') writeFileSync(written, JSON.stringify(total));
}
