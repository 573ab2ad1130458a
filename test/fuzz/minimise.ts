import { Raw, type FuzzRequest } from './request.ts';

/* Makes a request that fails smaller, part by part, while it still fails. */

const triesMax = 80;

/** Every request that lacks one part of the given one, the larger parts first. */
function* smaller(request: FuzzRequest): Generator<FuzzRequest> {
  for (const header of request.headers) yield { ...request, headers: request.headers.filter((one) => one !== header) };
  for (const part of request.query) yield { ...request, query: request.query.filter((one) => one !== part) };
  if (!request.body) return;
  yield { ...request, body: undefined };
  if ('bytes' in request.body) return;
  for (const json of smallerValues(request.body.json)) yield { ...request, body: { json } };
}

function* smallerValues(value: unknown): Generator {
  if (typeof value === 'string' && value.length > 1) {
    yield value.slice(0, value.length >> 1);
    yield value.slice(value.length >> 1);
  }
  if (typeof value !== 'object' || value === null || value instanceof Raw) return;
  if (Array.isArray(value)) {
    if (value.length > 3) yield value.slice(0, value.length >> 1);
    for (const index of value.keys()) yield value.toSpliced(index, 1);
    for (const [index, one] of value.entries()) for (const less of smallerValues(one)) yield value.with(index, less);
    return;
  }
  const record = value as Record<string, unknown>;
  for (const name of Object.keys(record)) {
    const { [name]: _, ...others } = record;
    yield others;
  }
  for (const [name, one] of Object.entries(record))
    for (const less of smallerValues(one)) yield { ...record, [name]: less };
}

/** Answers the smallest request found that still fails, or undefined where it does not fail a second time. */
export async function minimise(
  request: FuzzRequest,
  fails: (request: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest | undefined> {
  if (!(await fails(request))) return undefined;
  let smallest = request;
  let tries = 0;
  for (let found = true; found;) {
    found = false;
    for (const candidate of smaller(smallest)) {
      if ((tries += 1) > triesMax) return smallest;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}
