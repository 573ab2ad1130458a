import type { z } from 'zod';
import type { Document } from './documents.ts';
import { excerptAround, markMatches } from './highlights.ts';
import type { Matches } from './matches.ts';
import type { Ranked } from './rank.ts';
import type { SearchPage } from './schemas.ts';

type Result = z.input<typeof SearchPage>['results'][number];

/** A result of a page; none if its row was deleted since it was found. */
export function showResult(row: Ranked, documents: Map<string, Document>, matches: Matches): Result[] {
  const document = documents.get(`${row.kind} ${row.id}`);
  if (!document) return [];
  const matcher = row.hasSlip ? matches.slips : matches.exact;
  const { name } = document;
  return [
    {
      kind: row.kind,
      _id: row.id,
      title: { text: name, ranges: row.kind === 'comment' ? [] : markMatches(name, matcher) },
      excerpt: excerptAround(document.body, matcher),
      projectId: document.project_id,
      taskId: document.task_id,
    },
  ];
}
