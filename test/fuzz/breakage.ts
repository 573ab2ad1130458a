import type { Documented } from './document.ts';
import { Raw, bytesOf, type FuzzRequest, type Twist } from './request.ts';
import type { Random } from './random.ts';

import { deep, methods, oddHeaders, oddTypes, strangeValues, strangeTexts } from './strange-values.ts';

/* What is done to a valid request to make it a bad one, or an odd one. */

type Place = { holder: Record<string, unknown> | unknown[]; name: string | number };

/** Everything in a body that can be replaced. */
function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null || value instanceof Raw) return [];
  const holder = value as Record<string, unknown>;
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => [{ holder, name }, ...placesOf(holder[name])]);
}

type Breakage = (request: FuzzRequest, random: Random, operation: Documented) => void;

const breakages: Record<string, Breakage> = {
  replaceValue(request, random) {
    if (!request.body || !('json' in request.body)) return;
    const places = placesOf(request.body.json);
    const strange = random.pick(strangeValues)(random);
    if (places.length === 0) request.body = { json: strange ?? null };
    else {
      const { holder, name } = random.pick(places);
      (holder as Record<string | number, unknown>)[name] = strange;
    }
  },
  dropField(request, random) {
    if (!request.body || !('json' in request.body)) return;
    const places = placesOf(request.body.json).filter(({ holder }) => !Array.isArray(holder));
    if (places.length === 0) return;
    const { holder, name } = random.pick(places);
    delete (holder as Record<string | number, unknown>)[name];
  },
  addField(request, random) {
    const name = random.pick([
      'extra',
      'company_id',
      'isAdmin',
      '_id',
      'password_hash',
      'id',
      'x'.repeat(3000),
      '\0',
      '',
    ]);
    if (request.body && 'json' in request.body && typeof request.body.json === 'object' && request.body.json !== null)
      (request.body.json as Record<string, unknown>)[name] = random.pick(strangeValues)(random);
    else request.body = { json: { [name]: 1 } };
    setType(request, 'application/json');
  },
  wholeBody(request, random) {
    const texts = [
      '',
      ' ',
      'null',
      '[]',
      '{}',
      '"text"',
      '1',
      '{',
      '{"a":1,}',
      '{"a":1}{"b":2}',
      '[1,2',
      "{'a':1}",
      '\ufeff{}',
      deep(50_000),
      'NaN',
      '{"a":01}',
      '{"\\u0000":1}',
    ];
    request.body = { bytes: Buffer.from(random.pick(texts)) };
    setType(request, 'application/json');
  },
  damageBytes(request, random) {
    if (!request.body) return;
    const bytes = bytesOf(request.body);
    const ways: (() => Buffer)[] = [
      () =>
        Buffer.concat([
          bytes.subarray(0, bytes.length >> 1),
          Buffer.from([random.int(128, 255)]),
          bytes.subarray(bytes.length >> 1),
        ]),
      () => bytes.subarray(0, random.int(0, bytes.length)),
      () => Buffer.from(bytes.toString(), 'utf16le'),
      () => Buffer.from(bytes.toString(), 'latin1'),
      () => Buffer.from(bytes.toString().replace(/"(\w+)":/, '"$1":null,"$1":')),
      () => Buffer.concat([bytes, Buffer.from([0])]),
      () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    ];
    request.body = { bytes: random.pick(ways)() };
  },
  hugeBody(request, random) {
    if (!random.chance(0.1)) return;
    request.body = { json: { message: 'x'.repeat(random.pick([1_048_500, 1_048_600, 4_300_000])) } };
    setType(request, 'application/json');
  },
  inChunks(request) {
    if (request.method !== 'GET') request.headers.push(['Transfer-Encoding', 'chunked']);
  },
  bodyWhereNoneIs(request) {
    request.body = { json: {} };
    setType(request, 'application/json');
  },
  mediaType: (request, random) => setType(request, random.pick(oddTypes)),
  pathParameter(request, random, { path, inPath }) {
    if (inPath.length === 0) return;
    const { name } = random.pick(inPath);
    const at = path.split('/').indexOf(`{${name}}`);
    const steps = request.path.split('/');
    steps[at] = random.pick(strangeTexts);
    request.path = steps.join('/');
  },
  pathSpelling(request, random) {
    const { path } = request;
    request.path = random.pick([
      path.replace(/\/$/, ''),
      path.toUpperCase(),
      `/${path}`,
      `${path}/`,
      `${path}x`,
      path.replace(/\/$/, '//'),
      path.replace(/^\/(\w)/, (_, first: string) => `/%${first.charCodeAt(0).toString(16)}`),
      `/.${path}`,
      `${path}%2f`,
      `${path};a=b`,
    ]);
  },
  query(request, random, { inQuery }) {
    const name =
      random.chance(0.7) && inQuery.length > 0
        ? random.pick(inQuery).name
        : random.pick(['x', 'page', '__proto__', 'constructor', '%ff', 'batch', '']);
    const value = random.pick(strangeTexts);
    const ways = [
      `${name}=${value}`,
      `${name}=${value}`,
      `${name}=${value}`,
      name,
      `${name}=`,
      `${name}[]=${value}`,
      `${name}[a]=${value}`,
      `${name}=${value}&${name}=1`,
      `&&=&`,
    ];
    request.query = [
      ...request.query.filter((one) => random.chance(0.5) || !one.startsWith(`${name}=`)),
      random.pick(ways),
    ];
  },
  header: (request, random) => void request.headers.push(random.pick(oddHeaders)),
  doubledHeader(request, random) {
    const header = random.pick(oddHeaders);
    request.headers.push(header, [header[0], 'another']);
  },
  method: (request, random) => void (request.method = random.pick(methods)),
  proof(request, random) {
    const twists: Twist[] = ['accessOnly', 'refreshOnly', 'cut', 'doubled', 'garbage', 'noise'];
    request.twist = random.pick(twists);
  },
};

const weights: Record<keyof typeof breakages, number> = {
  replaceValue: 30,
  dropField: 8,
  addField: 5,
  wholeBody: 5,
  damageBytes: 5,
  hugeBody: 2,
  inChunks: 2,
  bodyWhereNoneIs: 2,
  mediaType: 4,
  pathParameter: 12,
  pathSpelling: 3,
  query: 12,
  header: 4,
  doubledHeader: 3,
  method: 3,
  proof: 5,
};

function setType(request: FuzzRequest, type: string): void {
  request.headers = [...request.headers.filter(([name]) => name !== 'Content-Type'), ['Content-Type', type]];
}

/** Breaks a request in one to three places. */
export function breakRequest(request: FuzzRequest, random: Random, operation: Documented): void {
  const { body, inPath, inQuery } = operation;
  const fitting = Object.entries(weights).filter(
    ([name]) =>
      (body || !['replaceValue', 'dropField', 'damageBytes'].includes(name)) &&
      (inPath.length > 0 || name !== 'pathParameter'),
  );
  const chosen = Object.fromEntries(
    fitting.map(([name, weight]) => [name, name === 'query' && inQuery.length === 0 ? 2 : weight]),
  );
  for (let times = random.pick([1, 1, 1, 1, 2, 2, 3]); times > 0; times -= 1)
    breakages[random.weighted(chosen)]!(request, random, operation);
}
