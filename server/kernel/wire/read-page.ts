/** The requested page of a list. */
type Wanted<Row, Item> = {
  page: number;
  pageSize: number;
  readRows(offset: number): Promise<Row[]>;
  readTotal(): Promise<number>;
  toItem(row: Row): Item;
};

/** Up to this page the rows and the total are read at the same time. */
const nearMax = 100;

/**
 * Reads one page. A distant page waits for the total first: beyond the end it is empty, and no rows are skipped for it.
 */
export async function readPage<Row, Item>(wanted: Wanted<Row, Item>) {
  const { page, pageSize, readRows, readTotal, toItem } = wanted;
  const offset = (page - 1) * pageSize;
  const isNear = page <= nearMax;
  const [near, total] = await Promise.all([isNear ? readRows(offset) : undefined, readTotal()]);
  const rows = near ?? (offset < total ? await readRows(offset) : []);
  return { results: rows.map(toItem), page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
}
