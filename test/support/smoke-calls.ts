import type { Operation } from '../../server/kernel/operations.ts';
import { identifiersIn, type Identifier, type Kind } from '../../server/kernel/wire/identifiers.ts';
import type { Answer, Caller } from './actor.ts';

/* Calls of any operation, made of its documented example and of what its identifiers name. */

export type Input = Record<string, unknown>;

/** The fields of query and body that name things. */
export const placesOf = ({ input, pathParameters }: Operation): Identifier[] =>
  (input ? identifiersIn(input) : []).filter(({ name }) => !pathParameters.includes(name));

/** What a parameter of the path names. */
export function kindOfParameter({ name: operation, input }: Operation, parameter: string): Kind {
  const found = identifiersIn(input!).find(({ name }) => name === parameter);
  if (!found) throw new Error(`${operation} takes ${parameter} in its path: say with idOf() what it names`);
  return found.kind;
}

/** Puts a value where the steps lead; a list of identifiers becomes one of it alone. */
export function putAt(input: unknown, [step, ...rest]: string[], value: unknown): unknown {
  if (step === undefined) return value;
  if (step === '[]' && rest.length === 0) return [value];
  if (step === '[]') return (input as unknown[]).map((one) => putAt(one, rest, value));
  return { ...(input as Input), [step]: putAt((input as Input)[step], rest, value) };
}

/** The documented example, with what `valueOf` answers in place of its identifiers and in the path. */
export function exampleWith(operation: Operation, valueOf: (kind: Kind) => unknown, changes: Input = {}): Input {
  let input: Input = { ...operation.meta.example, ...changes };
  for (const { kind, steps } of placesOf(operation))
    if ((input[steps[0]!] ?? null) !== null) input = putAt(input, steps, valueOf(kind)) as Input;
  for (const parameter of operation.pathParameters) input[parameter] = valueOf(kindOfParameter(operation, parameter));
  return input;
}

/** The path of an operation with the parameters of an input. */
export const urlOf = ({ path }: Operation, input: Input): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => String(input[parameter]));

/** What of an input is not in the path. */
export const restOf = ({ pathParameters }: Operation, input: Input): Input =>
  Object.fromEntries(Object.entries(input).filter(([field]) => !pathParameters.includes(field)));

export function callOperation(caller: Pick<Caller, 'send'>, operation: Operation, input: Input): Promise<Answer> {
  const { method, meta } = operation;
  const url = urlOf(operation, input);
  const rest = restOf(operation, input);
  if (method === 'GET') {
    const texts = Object.entries(rest).map(([field, value]) => [field, String(value)]);
    return caller.send(method, `${url}?${new URLSearchParams(Object.fromEntries(texts)).toString()}`);
  }
  const body = meta.bodyField === undefined ? rest : JSON.stringify(input[meta.bodyField]);
  return caller.send(method, url, Object.keys(rest).length === 0 ? undefined : body);
}
