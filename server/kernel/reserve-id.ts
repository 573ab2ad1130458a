import { sql } from 'kysely';
import { compiled } from '../../db/pipeline/compiled.ts';
import type { Db } from '../../db/open.ts';

/** Takes the identifier of a row that is inserted later: an earlier round trip than that of the insert has it already. */
export async function reserveId(db: Db, sequence: string): Promise<number> {
  const [row] = await nextId(db, { sequence });
  return row!.id;
}

const nextId = compiled<{ sequence: string }, { id: number }>((db, placeholder) =>
  db.selectNoFrom(sql<number>`nextval(${placeholder('sequence')}::text::regclass)`.as('id')).compile(),
);
