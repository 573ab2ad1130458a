import type { AnyTRPCRouter } from '@trpc/server';
import { operationsOf, type Operation } from './operations.ts';
import type { Subject } from './audit-change.ts';
import { identifiersIn, type Identifier } from './wire/identifiers.ts';

/** The thing that the input of an operation names; null if it names none. */
export type FindSubject = (operation: string, input: unknown) => Subject | null;

/** Reads from the declarations which field of an input names the subject: the last of the path, or else the first of the body. */
export function createFindSubject(router: AnyTRPCRouter): FindSubject {
  const fields = new Map(operationsOf(router).map((operation) => [operation.name, subjectField(operation)]));
  return (operation, input) => {
    const field = fields.get(operation);
    const value = field && (input as Record<string, unknown> | null | undefined)?.[field.name];
    return field && Number.isSafeInteger(value) ? { kind: kindOf(field), id: value as number } : null;
  };
}

/** The address that the input of an operation names, as accounts have it; null if it names none. */
export type FindAddress = (operation: string, input: Record<string, unknown>) => string | null;

/** An `email` that an operation does not declare is ignored by it, so it names nobody. */
export function createFindAddress(router: AnyTRPCRouter): FindAddress {
  const schemas = new Map(operationsOf(router).map(({ name, input }) => [name, input?.shape['email']]));
  return (operation, input) => {
    const parsed = schemas.get(operation)?.safeParse(input['email']).data;
    return typeof parsed === 'string' ? parsed : null;
  };
}

function subjectField({ input, pathParameters }: Operation): Identifier | undefined {
  const identifiers = input ? identifiersIn(input).filter(({ steps }) => steps.length === 1) : [];
  const inPath = identifiers.find(({ name }) => name === pathParameters.at(-1));
  return inPath ?? identifiers[0];
}

/** As events write it: `task_log`. A colleague is an employee. */
const kindOf = ({ kind }: Identifier): string =>
  kind === 'colleague' ? 'employee' : kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
