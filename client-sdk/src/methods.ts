import type { CallOptions, EventStream, Page } from './call-types.ts';
import type { Operations } from './contract.ts';
import { downloads, operations } from './operations.ts';
import { paged } from './paged.ts';

/** The parts from which the methods of a client are built. */
export type MethodTargets = {
  call(name: string, words: string, input: unknown, options: object | undefined): Promise<unknown>;
  subscribe(name: string, input: unknown, options: object | undefined): EventStream<unknown>;
  download(name: string, source: FileSource, input: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
};

/** The URL of a file, with names for parts of its path, and the media type that the file has. */
export type FileSource = readonly [template: string, mediaType: string];

type Method = (first?: unknown, second?: object) => unknown;

/** A method for each operation, in its section. */
export function methodsOf(targets: MethodTargets): Operations {
  const made: Record<string, Record<string, unknown>> = {};
  for (const [section, its] of Object.entries(operations))
    made[section] = Object.fromEntries(
      Object.entries(its).map(([verb, words]) => [verb, methodOf(targets, `${section}.${verb}`, words)]),
    );
  for (const [name, source] of Object.entries(downloads)) {
    const [section, verb] = name.split('.') as [string, string];
    made[section]![verb] = (input: Record<string, unknown>, options?: CallOptions) =>
      targets.download(name, source, input, options);
  }
  return made as unknown as Operations;
}

function methodOf({ call, subscribe: follow }: MethodTargets, name: string, words: string): Method {
  if (words.includes('bare')) return (options) => call(name, words, undefined, options as object | undefined);
  // If all fields of an input are optional, the input is optional too, but the service requires one.
  if (words.includes('subscription')) return (input = {}, options) => follow(name, input, options);
  if (!words.includes('paged')) return (input = {}, options) => call(name, words, input, options);
  return (input = {}, options) => {
    const read = (more: object) =>
      call(name, words, { ...(input as object), ...more }, options) as Promise<Page<unknown>>;
    return paged(read({}), (page) => read({ page }));
  };
}
