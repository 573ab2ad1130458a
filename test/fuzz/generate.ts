import { breakRequest } from './breakage.ts';
import type { ApiDocument, Documented } from './document.ts';
import { kindsOf, type Knowledge } from './knowledge.ts';
import { createRandom } from './random.ts';
import type { FuzzRequest } from './request.ts';
import { contextualIdentifier, valueFor, type ValueContext } from './values.ts';
import { password, type Actor, type World } from './world.ts';

/** Who calls, and how often; `none` sends no proof. */
const callers = { none: 10, member: 22, admin: 34, neighbour: 10, apiKey: 14, readKey: 5 };
const validShare = 0.55;

/** What belongs together and no schema can tell, such as an address and the code that was sent to it. */
export type Recipe = Record<string, unknown>;

export type Source = {
  document: ApiDocument;
  knowledge: Knowledge;
  seed: number;
  world(): World;
  /** What mails have brought: codes and links, newest last. */
  secrets: Recipe[];
  /** A client that asks people to let it in, and where it sends them back to. */
  client: Recipe;
};

/** The request of a number: the same for the same seed, if the service has given the same answers before. */
export function generateRequest(source: Source, index: number): FuzzRequest {
  const { document, knowledge, seed, secrets, client } = source;
  const { actors } = source.world();
  const random = createRandom(seed, index);
  const operation = document.operations[index % document.operations.length]!;
  const name = random.weighted(callers);
  // A caller without credentials means somebody as well.
  const actor = actors.get(name) ?? actors.get('member')!;
  const context: ValueContext = {
    random,
    document,
    knowledge,
    kinds: kindsOf(operation.id),
    company: actor.companyId,
    named: new Map(random.chance(0.6) ? [['employee', actor.employeeId]] : []),
    minutes: { at: 0 },
    emails: [...actors.values()].map(({ email }) => email),
  };
  if (random.chance(0.85)) context.named.set('company', actor.companyId);

  const path = operation.inPath.reduce((at, parameter) => {
    const kind = context.kinds.get(parameter.name);
    const value =
      kind === undefined
        ? valueFor(context, parameter.schema, parameter.name, parameter.example)
        : contextualIdentifier(context, kind);
    return at.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
  }, operation.path);
  // Many filters at once leave nothing to see.
  const filtered = random.pick([0, 0.15, 0.5]);
  const query = operation.inQuery
    .filter(({ required }) => required || random.chance(filtered))
    .map(({ name: parameter, schema, example }) => {
      const value = valueFor(context, schema, parameter, example);
      return `${parameter}=${encodeURIComponent(String(value).toWellFormed())}`;
    });
  const request: FuzzRequest = {
    operation: operation.id,
    method: operation.method,
    path,
    query,
    actor: name,
    twist: 'whole',
    headers: [],
    body: operation.body && { json: valueFor(context, operation.body.schema, '', operation.body.example) },
  };
  if (request.body) request.headers.push(['Content-Type', 'application/json']);
  if (random.chance(0.8)) follow(request, random.pick(recipesFor(operation, actor, [client, ...secrets])));
  if (operation.method !== 'GET' && random.chance(0.1))
    request.headers.push(['Idempotency-Key', `key-${random.int(1, 30)}`]);
  // Each request comes from a network of its own, so that limits by network hold up none.
  request.headers.push(['X-Forwarded-For', `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`]);
  if (!random.chance(validShare)) breakRequest(request, random, operation);
  return request;
}

function follow(request: FuzzRequest, recipe: Recipe): void {
  const body = request.body as { json: Record<string, unknown> } | undefined;
  if (body && typeof body.json === 'object' && !Array.isArray(body.json)) Object.assign(body.json, recipe);
}

function recipesFor({ id, body }: Documented, actor: Actor, told: Recipe[]): [Recipe, ...Recipe[]] {
  const fields = new Set(Object.keys(body?.schema.properties ?? {}));
  const { email, companyId, employeeId, proof } = actor;
  const refreshToken = proof.find(([name]) => name === 'X-Refresh-Token')?.[1];
  const same = { new_password: password, confirm_password: password };
  const all: Recipe[] = [
    { email, password, company_id: companyId },
    { email, password },
    { email, company_id: companyId, isAdmin: false },
    { current_password: password, ...same },
    { sender: employeeId, reply_to: null },
    { sender: employeeId, reply_to: null, mentionedEmails: [email] },
    { sender: employeeId, reply_to: null, mentionedEmails: [], image: null },
    { mentionedEmails: [] },
    { companyId },
    // Only an address that has an account is sent a code to sign in with.
    ...(id === 'auth.verifyEmail' ? [{ email }] : []),
    ...(refreshToken === undefined || id === 'auth.logout' ? [] : [{ refresh_token: refreshToken }]),
    ...told,
  ];
  const whole = all.filter((recipe) => Object.keys(recipe).every((field) => fields.has(field)));
  // The most telling ones: those that name the most of the body.
  const most = Math.max(0, ...whole.map((recipe) => Object.keys(recipe).length));
  const best = whole.filter((recipe) => Object.keys(recipe).length >= most - 1);
  return best.length === 0 ? [{}] : (best.slice(-8) as [Recipe, ...Recipe[]]);
}
