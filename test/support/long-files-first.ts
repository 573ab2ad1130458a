import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take a minute or so each: one that began last would run alone, with the other workers idle. */
const long = new Set(
  [
    'contract/walk-through contract/samples contract/operations contract/deploy contract/issue-codes outside/outside',
    'browser/looks browser/phone browser/reference browser/comments realtime/storm examples/import-time-logs',
    'faults/process faults/endings faults/import-company faults/killed-writers faults/long-answers',
  ].flatMap((line) => line.split(' ').map((name) => `test/${name}.test.ts`)),
);

/** Runs test files in the random order of the seed, the long ones before the others. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    const placed = files.map((file) => {
      const path = relative(root, file.moduleId);
      const place = createHash('sha256').update(`${sequence.seed} ${path}`).digest('hex');
      return { file, place: `${long.has(path) ? 0 : 1} ${place}` };
    });
    return placed.toSorted((a, b) => (a.place < b.place ? -1 : 1)).map(({ file }) => file);
  }
}
