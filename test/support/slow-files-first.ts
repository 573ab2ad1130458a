import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs test files in the random order of the seed, the slow ones before the others: one that began last would run alone, with the other workers idle. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    const placed = files.map((file) => {
      const path = relative(root, file.moduleId);
      const place = createHash('sha256').update(`${sequence.seed} ${path}`).digest('hex');
      return { file, place: `${path.endsWith('.slow.test.ts') ? 0 : 1} ${place}` };
    });
    return placed.toSorted((a, b) => (a.place < b.place ? -1 : 1)).map(({ file }) => file);
  }
}
