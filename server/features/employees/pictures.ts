import type { Db } from '../../../db/open.ts';

/** A profile picture by its address. */
export async function findPicture(
  db: Db,
  companyId: number,
  pictureId: string,
): Promise<{ content_type: string; content: Buffer } | undefined> {
  return db
    .selectFrom('pictures')
    .where('company_id', '=', companyId)
    .where('picture_id', '=', pictureId)
    .select(['content_type', 'content'])
    .executeTakeFirst();
}
