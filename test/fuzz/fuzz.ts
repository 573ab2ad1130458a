import type { oas31 } from 'zod-openapi';
import { readDocument, type Documented } from './document.ts';
import { generateRequest, type Recipe, type Source } from './generate.ts';
import { createKnowledge, kindsOf } from './knowledge.ts';
import { inParallel } from './in-parallel.ts';
import type { Mails } from './mails.ts';
import { minimise } from './minimise.ts';
import { proofOf, shownProofOf } from './proof.ts';
import { send, toCurl, type FuzzAnswer, type FuzzRequest } from './request.ts';
import { createVerdict } from './verdict.ts';
import { createWorld, password, type Call, type World } from './world.ts';

/*
 * Asks a service everything that its /openapi.json describes, in valid and in broken ways, and holds each answer against
 * that document. Requests are made in batches: each batch is decided by the seed and by the answers of the batches
 * before, so the same seed asks the same again, although the requests of a batch run at once.
 */

export type FuzzOptions = {
  baseUrl: string;
  mails: Mails;
  requests: number;
  seed: number;
  concurrency: number;
  /** What the service's log says of a request, if that is known. */
  causeOf(requestId: string): string | undefined;
  saveBody(bytes: Buffer): string;
  onProgress(done: number, failures: number): void;
};

export type Failure = {
  /** The first problem, which the failure is known by. */
  problem: string;
  problems: string[];
  /** How many requests had it. */
  count: number;
  answer: string;
  cause: string | undefined;
  /** Empty where it did not happen a second time. */
  curl: string;
  isRepeatable: boolean;
};

export type FuzzReport = {
  failures: Failure[];
  requests: number;
  byStatus: Map<number, number>;
  /** The operations that never answered 200. */
  neverDone: string[];
};

/** From where the people are made; requests come from others. */
export const preparingNetwork = '10.255.';
const batchSize = 48;
/** Requests after which the people and their companies are made again. */
const worldLasts = 4_000;
const differentFailuresMax = 25;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { baseUrl, mails, requests, seed, concurrency, onProgress } = options;
  const whole = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as oas31.OpenAPIObject;
  const document = readDocument(whole);
  const knowledge = createKnowledge();
  const verdict = createVerdict(document);
  const failures = new Map<string, Failure>();
  const byStatus = new Map<number, number>();
  const done = new Set<string>();
  const secrets: Recipe[] = [];
  const byId = new Map(document.operations.map((operation) => [operation.id, operation]));
  let world: World;
  let worlds = 0;
  let madeAt = 0;
  const client = await registerClient(baseUrl);
  const source: Source = { document, knowledge, seed, secrets, client, world: () => world };

  const call: Call = async (method, path, body, actor) => {
    const shape = path.replaceAll(/\d+/g, '{}');
    const operation = document.operations.find(
      (one) => one.method === method && one.path.replaceAll(/\{\w+\}/g, '{}') === shape,
    )!;
    const type: [string, string][] = body === undefined ? [] : [['Content-Type', 'application/json']];
    const request: FuzzRequest = {
      operation: operation.id,
      method,
      path,
      query: [],
      actor: '',
      twist: 'whole',
      headers: [...type, ['X-Forwarded-For', `${preparingNetwork}${worlds % 256}.1`]],
      body: body === undefined ? undefined : { json: body },
    };
    const answer = await send(baseUrl, request, actor?.proof ?? []);
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`);
    const value: unknown = JSON.parse(answer.body);
    if (actor && operation.answer) knowledge.learn(actor.companyId, operation.id, value);
    return value as Awaited<ReturnType<Call>>;
  };

  async function makeWorld(at: number): Promise<void> {
    worlds += 1;
    madeAt = at;
    world = await createWorld(call, mails, `${seed}-${worlds}`);
  }

  async function ask(request: FuzzRequest): Promise<{ answer: FuzzAnswer | undefined; problems: string[] }> {
    const actor = world.actors.get(request.actor);
    try {
      const answer = await send(baseUrl, request, proofOf(actor, request.twist));
      return { answer, problems: verdict(request, answer) };
    } catch (error) {
      return {
        answer: undefined,
        problems: [`${request.method} ${request.operation} was not answered: ${String(error)}`],
      };
    }
  }

  function learn(request: FuzzRequest, answer: FuzzAnswer): void {
    byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
    const { id, method, path, inPath, answer: schema } = byId.get(request.operation) as Documented;
    const actor = world.actors.get(request.actor);
    if (method !== request.method || !actor || request.twist !== 'whole') return;
    if (answer.status === 404) {
      const steps = request.path.split('/');
      for (const { name } of inPath)
        knowledge.miss(
          actor.companyId,
          kindsOf(id).get(name) ?? '',
          Number(steps[path.split('/').indexOf(`{${name}}`)]),
        );
    }
    if (answer.status !== 200) return;
    done.add(id);
    if (schema && isJson(answer)) knowledge.learn(actor.companyId, id, JSON.parse(answer.body));
  }

  async function note(request: FuzzRequest, answer: FuzzAnswer | undefined, problems: string[]): Promise<void> {
    const problem = signatureOf(problems[0]!);
    const known = failures.get(problem);
    if (known) return void (known.count += 1);
    if (failures.size >= differentFailuresMax) return;
    // An actor may have been signed out.
    await world.refresh();
    const smallest = await minimise(request, async (candidate) =>
      (await ask(candidate)).problems.some((one) => signatureOf(one) === problem),
    );
    const shown = smallest ?? request;
    const requestId = answer?.headers['x-request-id'];
    failures.set(problem, {
      problem,
      problems,
      count: 1,
      isRepeatable: smallest !== undefined,
      answer: answer === undefined ? 'no answer' : `${answer.status} ${answer.body.slice(0, 500)}`,
      cause: requestId === undefined ? undefined : options.causeOf(requestId),
      curl: toCurl(baseUrl, shown, shownProofOf(world.actors.get(shown.actor), shown.twist), options.saveBody),
    });
  }

  /** Of the last tenth of the requests every other is for what has not succeeded yet; the rest bring the mails that it may need. */
  function sourceAt(from: number): Source {
    const left = document.operations.filter(({ id }) => !done.has(id));
    if (from < requests * 0.9 || left.length === 0) return source;
    const operations = document.operations.flatMap((one, index) => [one, left[index % left.length]!]);
    return { ...source, document: { ...document, operations } };
  }

  await makeWorld(0);
  for (let from = 0; from < requests; from += batchSize) {
    const sourceOfBatch = sourceAt(from);
    const batch = Array.from({ length: Math.min(batchSize, requests - from) }, (_, index) =>
      generateRequest(sourceOfBatch, from + index),
    );
    const asked = await inParallel(batch, concurrency, ask);
    for (const [index, { answer, problems }] of asked.entries()) {
      if (answer) learn(batch[index]!, answer);
      if (problems.length > 0) await note(batch[index]!, answer, problems);
    }
    for (const secret of (await mails.takeNew()).flatMap(secretsOf)) {
      // A new code ends the one before, which would only use up the attempts.
      const before = secrets.findIndex(({ email }) => email !== undefined && email === secret['email']);
      if (before !== -1) secrets.splice(before, 1);
      secrets.push(secret);
    }
    secrets.splice(0, secrets.length - 40);
    const end = from + batch.length;
    if (end - madeAt >= worldLasts || !(await world!.refresh())) await makeWorld(end);
    onProgress(end, failures.size);
  }
  const neverDone = document.operations.map(({ id }) => id).filter((id) => !done.has(id));
  return { failures: [...failures.values()], requests, byStatus, neverDone };
}

/** A client of OAuth, which people can let in; registering is no documented operation, but a part of the protocol. */
async function registerClient(baseUrl: string): Promise<Recipe> {
  const redirectUri = 'http://127.0.0.1/done';
  const response = await fetch(`${baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': `${preparingNetwork}0.1` },
    body: JSON.stringify({ client_name: 'Planner', redirect_uris: [redirectUri] }),
  });
  if (response.status !== 201) throw new Error(`no client was registered: ${await response.text()}`);
  const { client_id } = (await response.json()) as { client_id: string };
  return { client_id, redirect_uri: redirectUri };
}

const isJson = ({ headers }: FuzzAnswer): boolean => /^application\/json(;|$)/.test(headers['content-type'] ?? '');

/** Numbers and names of single requests do not make another failure. */
const signatureOf = (problem: string): string => problem.replaceAll(/\d{4,}|(?<=\/)\d+/g, 'N').slice(0, 300);

function secretsOf({ to, text }: { to: string; text: string }): Recipe[] {
  const otp = /\b(\d{6})\b/.exec(text)?.[1];
  const token = /reset-password\?token=([\w-]+)/.exec(text)?.[1];
  return [
    ...(otp === undefined ? [] : [{ email: to, otp }]),
    ...(token === undefined ? [] : [{ token, new_password: password, confirm_password: password }]),
  ];
}
