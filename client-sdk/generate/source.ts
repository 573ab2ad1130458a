import { inspect } from 'node:util';
import type { ErrorDefinition } from '../../server/errors/api-error.ts';
import { issueCodes } from '../../server/errors/issues.ts';
import { honoursIdempotencyKey } from '../../server/kernel/operation.ts';
import type { Procedure } from './operations.ts';
import { docOf, objectOf, pascalCase, typeOf, type Schema } from './types.ts';

/** A short type stays in the signature; a longer one gets a name. */
const signatureMax = 60;
const pageFields = 'results page pageSize total totalPages';

const head = '// Made by `npm run generate` from the definitions of the operations; do not edit.\n';

/** The contract of the service as TypeScript: all types, and the client's table of operations. */
export function sourcesOf(
  procedures: Procedure[],
  errors: ErrorDefinition[],
): { contract: string; operations: string } {
  const named = new Map<string, Schema>();
  const operations = procedures.map((procedure) => typesOf(procedure, named));
  const sections = Map.groupBy(operations, ({ section }) => section);
  const types = [
    ...[...named].map(([name, schema]) => declare(name, schema)),
    declareErrors(errors),
    declareIssueCodes(),
    ...[...sections].map(([section, its]) => declareSection(section, its)),
    declareOperations([...sections.keys()]),
    declareContract(operations),
  ];
  const imports =
    "import type { Call, CallOptions, Download, EventStream, Page, Paged, StreamOptions, Upload, WriteOptions } from './call-types.ts';\n";
  return {
    contract: `${head}${imports}\n${types.join('\n\n')}\n`,
    operations: `${head}\n${declareTable(sections)}\n\n${declareDownloads(operations)}\n`,
  };
}

type Operation = Procedure & {
  section: string;
  verb: string;
  inputType: string | undefined;
  outputType: string;
  /** The items of a list. */
  itemType: string | undefined;
};

/** The types of an operation in its signature; named ones go to `named`. */
function typesOf(procedure: Procedure, named: Map<string, Schema>): Operation {
  const [section, verb] = procedure.name.split('.') as [string, string];
  const name = pascalCase(procedure.name);
  const { input, output, kind } = procedure;
  const inputType = input && nameLong(input, `${name}Input`, named);
  const outputType = nameLong(output, `${name}${kind === 'subscription' ? 'Event' : 'Answer'}`, named);
  const fields = Object.keys(output.properties ?? {});
  const isPage = 'results' in (output.properties ?? {}) && isReadOn(fields, Object.keys(input?.properties ?? {}));
  const itemType = isPage ? typeOf(output.properties!['results']!.items!) : undefined;
  const isPlain = fields.join(' ') === pageFields;
  if (itemType !== undefined && isPlain) named.delete(outputType);
  return {
    ...procedure,
    section,
    verb,
    inputType,
    outputType: itemType !== undefined && isPlain ? `Page<${itemType}>` : outputType,
    itemType,
  };
}

/** Whether the next page of an answer can be asked for, by its number or its cursor. */
const isReadOn = (fields: string[], inputs: string[]): boolean =>
  (fields.includes('totalPages') && inputs.includes('page')) ||
  (fields.includes('nextCursor') && inputs.includes('cursor'));

function nameLong(schema: Schema, name: string, named: Map<string, Schema>): string {
  const { $defs = {}, ...own } = schema;
  for (const [id, definition] of Object.entries($defs)) named.set(pascalCase(id), definition);
  const type = typeOf(own);
  const isShort = !type.includes('\n') && type.length <= signatureMax;
  if (isShort) return type;
  named.set(name, own);
  return name;
}

function declare(name: string, schema: Schema): string {
  const doc = docOf(schema.description, '');
  const type = typeOf(schema);
  const isObject = schema.type === 'object';
  return isObject
    ? `${doc}export interface ${name} ${objectOf(schema, '', 0)}`
    : `${doc}export type ${name} =${type.includes('\n') ? ' ' : '\n  '}${type};`;
}

function declareErrors(errors: ErrorDefinition[]): string {
  const lines = errors.map(({ code, sentence, status }) => `${docOf(sentence, '  ')}  ${code}: ${status};`);
  return `/** All error codes of the service, each with its HTTP status. */
export interface ErrorStatuses {\n${lines.join('\n')}\n}`;
}

function declareIssueCodes(): string {
  const lines = Object.entries(issueCodes).map(([code, sentence]) => `${docOf(sentence, '  ')}  ${code}: true;`);
  return `/** The codes of issues, each with its meaning. */
export interface IssueCodes {\n${lines.join('\n')}\n}`;
}

function declareSection(section: string, operations: Operation[]): string {
  const methods = operations.flatMap((operation) => [methodOf(operation), ...downloadsOf(operation)]);
  return `export interface ${pascalCase(section)}Operations {\n${methods.join('\n\n')}\n}`;
}

function methodOf(operation: Operation): string {
  const { kind, verb, meta, outputType, itemType } = operation;
  const writeOptions = honoursIdempotencyKey(meta) ? 'WriteOptions' : 'CallOptions';
  const options = { query: 'CallOptions', mutation: writeOptions, subscription: 'StreamOptions' }[kind];
  const answer = kind === 'subscription' ? `EventStream<${outputType}>` : `Call<${outputType}>`;
  const parameters = [...inputOf(operation), `options?: ${options}`].join(', ');
  return `${documentationOf(operation)}  ${verb}(${parameters}): ${itemType === undefined ? answer : pagedType(itemType, outputType)};`;
}

const pagedType = (itemType: string, outputType: string): string =>
  outputType === `Page<${itemType}>` ? `Paged<${itemType}>` : `Paged<${itemType}, ${outputType}>`;

function inputOf({ inputType, input }: Operation): string[] {
  if (inputType === undefined || !input) return [];
  return [`input${isOptional(input) ? '?' : ''}: ${inputType}`];
}

const isOptional = ({ type, required = [] }: Schema): boolean => type === 'object' && required.length === 0;

function downloadsOf(operation: Operation): string[] {
  const { downloads, name } = operation;
  const parameters = [...inputOf(operation), 'options?: CallOptions'].join(', ');
  return downloads.map(({ format, mediaType }) => {
    const doc = docOf(`The same as \`${name}\`, as a file (${mediaType}) that comes while it is made.`, '  ');
    return `${doc}  ${format}(${parameters}): Call<Download>;`;
  });
}

function documentationOf({ meta, name, input, fromSession }: Operation): string {
  const { openapi, events, errors = [] } = meta;
  const { summary = '', description = '' } = openapi ?? events ?? {};
  const codes = errors.map(({ code }) => code).join(', ');
  const example = meta.example && withRequired(meta.example, input);
  const call = example && `await client.${name}(${inspect(example, { breakLength: 90, depth: 9 })});`;
  const paragraphs = [
    `${summary}.`,
    description,
    ...[...fromSession].map(([field, source]) => `\`${field}\`: ${unlessGiven[source]} unless given.`),
    ...(openapi ? [`REST: \`${openapi.method} ${openapi.path}\``] : []),
    [
      ...(codes === '' ? [] : [`@throws {ApiError} ${codes}`]),
      ...(call === undefined ? [] : [`@example\n${call}`]),
    ].join('\n'),
  ];
  return docOf(paragraphs.filter((paragraph) => paragraph !== '').join('\n\n'), '  ');
}

const unlessGiven = { company: 'the company of the session', employee: 'the caller' };

/** An example for REST may omit values of the path. */
function withRequired(example: Record<string, unknown>, { required = [], properties = {} }: Schema = {}) {
  const missing = required.filter((name) => !(name in example));
  return { ...Object.fromEntries(missing.map((name) => [name, properties[name]?.examples?.[0]])), ...example };
}

function declareOperations(sections: string[]): string {
  const lines = sections.map((section) => `  readonly ${section}: ${pascalCase(section)}Operations;`);
  return `/** Every operation and every stream of events, by section. */
export interface Operations {\n${lines.join('\n')}\n}`;
}

function declareContract(operations: Operation[]): string {
  const lines = operations
    .filter(({ kind }) => kind !== 'subscription')
    .map(
      ({ name, inputType, input, outputType }) =>
        `  '${name}': { input: ${inputType ?? 'undefined'}${input && isOptional(input) ? ' | undefined' : ''}; answer: ${outputType} };`,
    );
  const streams = operations
    .filter(({ kind }) => kind === 'subscription')
    .map(
      ({ name, inputType, input, outputType }) =>
        `  '${name}': { input: ${inputType!}${isOptional(input!) ? ' | undefined' : ''}; event: ${outputType} };`,
    );
  return `/** The input and answer of each operation, by its name. */
export interface OperationTypes {\n${lines.join('\n')}\n}

/** The input and events of each stream, by its name. */
export interface StreamTypes {\n${streams.join('\n')}\n}`;
}

/** The entry of an operation in the client's table. */
function wordsOf({ kind, meta, input, itemType, fromSession }: Operation): string {
  const words = [
    ...(meta.access === 'open' ? ['open'] : []),
    ...(itemType === undefined ? [] : ['paged']),
    ...(kind === 'mutation' && !honoursIdempotencyKey(meta) ? ['unkeyed'] : []),
    kind,
    ...(input ? [] : ['bare']),
    ...[...fromSession].map((field) => field.join('=')),
  ];
  return words.join(' ');
}

function declareTable(sections: Map<string, Operation[]>): string {
  const lines = [...sections].map(([section, operations]) => {
    const its = operations.map((operation) => `    ${operation.verb}: '${wordsOf(operation)}',`);
    return `  ${section}: {\n${its.join('\n')}\n  },`;
  });
  return `/**
 * What the client must know of each operation: its kind, \`open\` where it needs no sign-in, \`paged\` where it answers
 * a page, \`bare\` where it takes no input, \`unkeyed\` where an Idempotency-Key does nothing, and each field that is taken
 * from the session where it is absent.
 */
export const operations: Record<string, Record<string, string>> = {\n${lines.join('\n')}\n};`;
}

function declareDownloads(operations: Operation[]): string {
  const lines = operations
    .flatMap(({ downloads, ...operation }) => downloads.map((download) => ({ ...operation, ...download })))
    .map(
      ({ section, verb, meta, format, mediaType }) =>
        `  '${section}.${format}': ['${section}.${verb}', '${meta.openapi!.path}?format=${format}', '${mediaType}'],`,
    );
  return `/** Files: the operation of each, where it comes from, and its media type. */
export const downloads: Record<string, readonly [operation: string, template: string, mediaType: string]> = {\n${lines.join('\n')}\n};`;
}
