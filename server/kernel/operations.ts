import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import { definitionOf, proceduresOf } from './definitions.ts';
import { choiceOf, type Files } from './wire/download.ts';
import type { Method, OperationMeta } from './operation.ts';

/** An operation as REST, the document and the tests see it, read from the router. */
export type Operation = {
  /** Its name in the router, such as `taskLogs.create`. */
  name: string;
  type: 'query' | 'mutation';
  method: Method;
  /** The documented path, `{name}` for parameters. */
  path: string;
  pathParameters: string[];
  meta: OperationMeta;
  input: z.ZodObject | undefined;
  /** The plain answer. */
  output: z.ZodType;
  /** An example of each file that it answers on request, by its format. */
  files: Files;
};

export function operationsOf(router: AnyTRPCRouter): Operation[] {
  return [...proceduresOf(router)].flatMap(([name, procedure]) => {
    const { type, meta, inputs, output } = definitionOf(procedure);
    if (type === 'subscription' || !meta?.openapi) return [];
    if (!output) throw new Error(`${name} declares no output`);
    const [input] = inputs;
    if (input !== undefined && !(input instanceof z.ZodObject)) throw new Error(`the input of ${name} is no object`);
    const { method, path } = meta.openapi;
    const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
    const missing = pathParameters.filter((parameter) => !(parameter in (input?.shape ?? {})));
    if (missing.length > 0) throw new Error(`${name} does not take ${missing.join(', ')} of its path`);
    const { answer, files } = choiceOf(output) ?? { answer: output, files: {} };
    return [{ name, type, method, path, pathParameters, meta, input, output: answer, files }];
  });
}
