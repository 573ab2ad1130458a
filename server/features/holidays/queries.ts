import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Holidays } from './schemas.ts';

export type Holiday = z.input<typeof Holidays>['holidays'][number];
export type Range = { from: string; to: string };

export async function listInRange(db: Db, companyId: number, { from, to }: Range): Promise<Holiday[]> {
  const rows = await db
    .selectFrom('holidays')
    .where('company_id', '=', companyId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .select(['day', 'name'])
    .orderBy('day')
    .execute();
  return rows.map((row) => ({ date: row.day, name: row.name }));
}
