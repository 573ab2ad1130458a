import { invalid, toApiError, validationFailed, withIssues } from '../../errors/errors.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { requiredMessage, type Issue } from '../../errors/issues.ts';
import { callOperation, type Agent } from './agent.ts';
import { isList, isNamed, snakeCase, takesNull, type Argument } from './arguments.ts';
import { readCursor, type Place } from './cursor.ts';
import { createLookUp, type LookUp } from './look-up.ts';
import { withPresent } from './present.ts';
import { fitResult, type Section } from './result.ts';
import { ownArguments, takesOwn, type Part, type Tool } from './tools.ts';

type Given = Record<string, unknown>;

/** Calls the operations that a tool means by its arguments, and answers what fits into a result. */
export async function callTool(tool: Tool, agent: Agent, all: Given): Promise<Record<string, unknown>> {
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const place = readCursor(dropNull(given['cursor']));
  const part = choosePart(tool, given);
  const included = chooseIncluded(tool, given['include']);
  checkNames(tool, [part, ...included], given);
  const textFrom = readTextFrom(given['text_from']);
  const idempotencyKey = readIdempotencyKey(given['idempotency_key']);
  const lookUp = createLookUp(agent);

  const sections: Section[] = [];
  for (const one of [part, ...included]) {
    const name = one.use.include ?? '';
    // A list that goes on is answered alone.
    if (place && place.of !== name) continue;
    const input = await inputOf(one, { agent, given, place, lookUp, takesNames: tool.about.kind !== 'delete' });
    const at = place ?? { of: name, skip: 0 };
    const how = { idempotencyKey, skip: at.skip };
    const answer = await callOperation(agent, one.operation, input, how).catch((error: unknown) => {
      throw inArguments(one, toApiError(error));
    });
    sections.push({ name, part: one, place: at, ...answer });
  }
  const result = fitResult(sections, textFrom);
  return tool.name === 'who_am_i' ? withPresent(result, agent.services.clock.now()) : result;
}

/** The operation that is meant: by `action`, by the argument that only it has, or the one that asks for neither. */
function choosePart({ name, parts }: Tool, given: Given): Part {
  const actions = parts.flatMap(({ use }) => use.action ?? []);
  if (actions.length > 0) {
    const wanted = parts.find(({ use }) => use.action === given['action']);
    if (wanted) return wanted;
    const message = (given['action'] ?? null) === null ? requiredMessage : `must be one of ${actions.join(', ')}`;
    throw invalid(['action'], message, message === requiredMessage ? 'required' : 'invalid_value');
  }
  const [wanted, other] = parts.filter(({ use }) => use.when !== undefined && (given[use.when] ?? null) !== null);
  if (other) throw invalid([other.use.when!], `cannot be given together with ${wanted!.use.when!}`, 'mismatch');
  const chosen = wanted ?? parts.find(({ use }) => use.when === undefined);
  if (chosen) return chosen;
  const ways = parts.map(({ use }) => use.when!);
  throw invalid([ways[0]!], `${requiredMessage} by ${name}, or one of ${ways.slice(1).join(', ')}`, 'required');
}

function chooseIncluded({ included }: Tool, words: unknown): Part[] {
  if ((words ?? null) === null) return [];
  const known = included.map(({ use }) => use.include!);
  const list = Array.isArray(words) ? words : [words];
  const unknown = list.findIndex((word) => !known.includes(word as string));
  if (unknown !== -1) throw invalid(['include', unknown], `must be one of ${known.join(', ')}`, 'invalid_value');
  return included.filter(({ use }) => list.includes(use.include));
}

/** Refuses what no meant operation takes: an argument that has no effect is a mistake. */
function checkNames(tool: Tool, meant: readonly Part[], given: Given): void {
  const own = ownArguments.filter((name) => takesOwn(tool, name));
  const taken = new Set<string>([...own, ...meant.flatMap(({ arguments: its }) => its.map(({ name }) => name))]);
  const known = new Set([...tool.parts, ...tool.included].flatMap(({ arguments: its }) => its.map(({ name }) => name)));
  const issues = Object.entries(given).flatMap(([name, value]): Issue[] => {
    if (taken.has(name) || (value === null && known.has(name))) return [];
    const names = [...taken].join(', ');
    if (!known.has(name)) {
      const message = `is no argument of ${tool.name}, which takes ${names}`;
      return [{ path: [name.slice(0, 100)], message, code: 'invalid_value' }];
    }
    const message = `does not go together with the other arguments; here ${tool.name} takes ${names}`;
    return [{ path: [name], message, code: 'mismatch' }];
  });
  if (issues.length > 0) throw validationFailed(issues);
}

type Asked = { agent: Agent; given: Given; place: Place | undefined; lookUp: LookUp; takesNames: boolean };

async function inputOf(part: Part, { agent, given, place, lookUp, takesNames }: Asked): Promise<Given> {
  const { companyId, employeeId } = agent.membership;
  const input: Given = { ...part.use.sends };
  for (const [field, whose] of Object.entries(part.filled)) input[field] = whose === 'company' ? companyId : employeeId;
  for (const argument of part.arguments) {
    const value = given[argument.name];
    // Agents send null for what they leave out.
    if (value === undefined || (value === null && !takesNull(argument.schema))) {
      if (argument.isOwn) input[argument.field] = employeeId;
    } else input[argument.field] = await meant(argument, value, takesNames ? lookUp : undefined);
  }
  if (place?.cursor !== undefined && part.paging === 'cursor') input['cursor'] = place.cursor;
  if (place?.page !== undefined && part.paging === 'page') input['page'] = place.page;
  return input;
}

/** What an argument means: numbers are also read from text, and names are looked up. */
async function meant(argument: Argument, value: unknown, lookUp: LookUp | undefined): Promise<unknown> {
  const { kind, name, schema } = argument;
  if (kind === undefined) return value;
  if (isList(schema) && Array.isArray(value)) {
    const found: unknown[] = [];
    for (const one of value) found.push(await meantOne(one));
    return found;
  }
  return meantOne(value);

  async function meantOne(one: unknown): Promise<unknown> {
    if (typeof one !== 'string') return one;
    if (/^[1-9]\d{0,15}$/.test(one)) return Number(one);
    if (lookUp && isNamed(kind)) return lookUp(name, kind, one);
    throw invalid([name], 'must be a number: look it up first', 'invalid_type');
  }
}

const dropNull = (value: unknown): unknown => value ?? undefined;

function readTextFrom(value: unknown): number {
  if ((value ?? null) === null) return 0;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalid(['text_from'], 'must be the text_from of a text that was cut', 'invalid_type');
}

function readIdempotencyKey(value: unknown): string | undefined {
  if ((value ?? null) === null) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= 255) return value;
  throw invalid(['idempotency_key'], 'must be text of 1 to 255 characters', 'invalid_type');
}

/** An error of an operation with the names of arguments instead of those of its fields. */
function inArguments(part: Part, error: ApiError): ApiError {
  const names = new Map(part.arguments.map(({ field, name }) => [field, name]));
  return withIssues(error, (issue) => {
    const [field, ...deeper] = issue.path;
    if (typeof field !== 'string') return issue;
    return { ...issue, path: [names.get(field) ?? snakeCase(field), ...deeper] };
  });
}
