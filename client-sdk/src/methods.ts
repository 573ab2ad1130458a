import type { Call, CallOptions, EventStream, WithResponse } from './call-types.ts';
import type { Operations } from './contract.ts';
import { downloads, operations } from './operations.ts';
import { paged, type AnyPage } from './paged.ts';

/** The parts from which the methods of a client are built. */
export type MethodTargets = {
  call(
    name: string,
    words: string,
    input: object | undefined,
    options: object | undefined,
  ): Promise<WithResponse<unknown>>;
  subscribe(name: string, input: object, options: object | undefined): EventStream<unknown>;
  download(name: string, source: FileSource, input: object, options?: CallOptions): Promise<WithResponse<unknown>>;
};

/** The words of a file's operation, its URL, with names for parts of its path, and the media type that the file has. */
export type FileSource = { words: string; template: string; mediaType: string };

type Method = (first?: object, second?: object) => unknown;

/** A method for each operation, in its section. */
export function methodsOf(targets: MethodTargets): Operations {
  const made: Record<string, Record<string, unknown>> = {};
  for (const [section, its] of Object.entries(operations))
    made[section] = Object.fromEntries(
      Object.entries(its).map(([verb, words]) => [verb, methodOf(targets, `${section}.${verb}`, words)]),
    );
  for (const [name, [operation, template, mediaType]] of Object.entries(downloads)) {
    const [section, verb] = name.split('.') as [string, string];
    const words = wordsOf(operation);
    made[section]![verb] = (input: object = {}, options?: CallOptions) =>
      toCall(targets.download(name, { words, template, mediaType }, input, options));
  }
  return made as unknown as Operations;
}

function wordsOf(name: string): string {
  const [section, verb] = name.split('.') as [string, string];
  return operations[section]![verb]!;
}

function methodOf({ call, subscribe: follow }: MethodTargets, name: string, words: string): Method {
  if (words.includes('bare')) return (options) => toCall(call(name, words, undefined, options));
  // If all fields of an input are optional, the input is optional too, but the service requires one.
  if (words.includes('subscription')) return (input = {}, options) => follow(name, input, options);
  if (!words.includes('paged')) return (input = {}, options) => toCall(call(name, words, input, options));
  return (input = {}, options) => {
    const read = (more: object) =>
      toCall(call(name, words, { ...input, ...more }, options) as Promise<WithResponse<AnyPage<unknown>>>);
    return paged(read({}), read);
  };
}

/** A call as its caller gets it: what came with the answer is there on request. */
function toCall<Answer>(result: Promise<WithResponse<Answer>>): Call<Answer> {
  const answer = result.then(({ data }) => data);
  // An error of `answer` must not be reported as unhandled, so it is awaited too.
  return Object.assign(answer, { withResponse: async () => answer.then(async () => result) });
}
