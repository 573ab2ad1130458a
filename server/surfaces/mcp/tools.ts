import type { AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { honoursIdempotencyKey, scopeKindOf, scopesOf } from '../../kernel/operation.ts';
import { operationsOf, type Operation } from '../../kernel/operations.ts';
import { toolNames, type ToolName, type ToolUse } from '../../kernel/tool.ts';
import type { Scope } from '../../platform/scopes.ts';
import { argumentSchema, toArgument, type Argument, type JsonSchema } from './arguments.ts';
import { descriptions, type Description } from './descriptions.ts';

/** An operation as a part of a tool. */
export type Part = {
  operation: Operation;
  use: ToolUse;
  arguments: readonly Argument[];
  /** Hidden fields that hold the identifier of the company or the caller. */
  filled: Readonly<Record<string, 'company' | 'caller'>>;
  /** How the operation goes on where its answer ends, if it does. */
  paging: 'cursor' | 'page' | undefined;
};

export type Tool = {
  name: ToolName;
  about: Description;
  /** One of them is called: the one chosen by `action`, by an argument, or else the one that says neither. */
  parts: readonly Part[];
  /** They are called besides, where `include` says so. */
  included: readonly Part[];
};

/** The arguments of all tools, beside those of operations. */
export const ownArguments = ['action', 'include', 'cursor', 'text_from', 'idempotency_key'] as const;
type OwnArgument = (typeof ownArguments)[number];

/** The tools that the operations of a router declare. */
export function toolsOf(router: AnyTRPCRouter): Tool[] {
  const parts = operationsOf(router).flatMap((operation) =>
    operation.meta.tool ? toPart(operation, operation.meta.tool) : [],
  );
  return toolNames.map((name) => {
    const its = parts.filter(({ use }) => use.name === name);
    const about = descriptions[name];
    for (const part of its) checkKind(part, about);
    const isIncluded = ({ use }: Part) => use.include !== undefined;
    return { name, about, parts: its.filter((part) => !isIncluded(part)), included: its.filter(isIncluded) };
  });
}

function toPart(operation: Operation, use: ToolUse): Part {
  const shape = operation.input?.shape ?? {};
  const { hides = [], sends = {}, describes = {} } = use;
  const unknown = [...hides, ...Object.keys(sends), ...Object.keys(describes)].filter((field) => !(field in shape));
  if (unknown.length > 0)
    throw new Error(`the tool of ${operation.name} names no fields of its input: ${unknown.join(', ')}`);
  const filled: Record<string, 'company' | 'caller'> = {};
  const shown: Argument[] = [];
  for (const [field, schema] of Object.entries<z.core.$ZodType>(shape)) {
    const argument = toArgument(field, schema);
    if (argument.kind === 'company') filled[field] = 'company';
    else if (hides.includes(field) && argument.isOwn) filled[field] = 'caller';
    else if (!hides.includes(field) && !(field in sends) && field !== 'cursor' && field !== 'page')
      shown.push(field in describes ? { ...argument, description: describes[field]! } : argument);
  }
  const paging = 'cursor' in shape ? 'cursor' : 'page' in shape ? 'page' : undefined;
  return { operation, use, arguments: shown, filled, paging };
}

/** Clients trust the kind when they decide whether to ask a person first. */
function checkKind({ operation, use }: Part, { kind }: Description): void {
  const isRight =
    kind === 'read'
      ? operation.type === 'query'
      : kind === 'delete'
        ? operation.method === 'DELETE'
        : operation.method !== 'DELETE';
  if (!isRight) throw new Error(`${operation.name} cannot be a part of ${use.name}, whose kind is ${kind}`);
}

/** Whether an API key with these scopes may call an operation. */
function mayUse({ operation }: Part, granted: readonly Scope[]): boolean {
  const sets = scopesOf(operation.meta, scopeKindOf(operation.type));
  return sets.some((set) => set.every((scope) => granted.includes(scope)));
}

/** A tool as clients list it. */
export type ListedTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: {
    type: 'object';
    properties: Record<string, JsonSchema>;
    required?: string[];
    additionalProperties: false;
  };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: false };
};

/** The tools that a key may use, each without what it may not. */
export function listTools(tools: readonly Tool[], granted: readonly Scope[]): ListedTool[] {
  return tools.flatMap((tool) => {
    const parts = tool.parts.filter((part) => mayUse(part, granted));
    if (parts.length === 0) return [];
    return listed({ ...tool, parts, included: tool.included.filter((part) => mayUse(part, granted)) });
  });
}

function listed(tool: Tool): ListedTool {
  const { name, about } = tool;
  const properties: Record<string, JsonSchema> = {};
  const schemas = ownSchemas(tool);
  if (takesOwn(tool, 'action')) properties['action'] = schemas.action;
  for (const part of [...tool.parts, ...tool.included])
    for (const argument of part.arguments) {
      const schema = argumentSchema(argument, { takesNames: about.kind !== 'delete' });
      properties[argument.name] = merged(properties[argument.name], schema);
    }
  for (const own of ownArguments) if (takesOwn(tool, own)) properties[own] = schemas[own];
  const required = Object.keys(properties).filter(
    (argument) => argument === 'action' || tool.parts.every((part) => isRequiredBy(part, argument)),
  );
  const isReading = about.kind === 'read';
  return {
    name,
    title: about.title,
    description: about.text,
    inputSchema: {
      type: 'object',
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: isReading,
      destructiveHint: !isReading,
      idempotentHint: isReading,
      openWorldHint: false,
    },
  };
}

const isRequiredBy = (part: Part, name: string): boolean =>
  part.arguments.some((argument) => argument.name === name && argument.isRequired);

const ownSchemas = ({ parts, included }: Tool): Record<OwnArgument, JsonSchema> => ({
  action: { type: 'string', enum: parts.flatMap(({ use }) => use.action ?? []) },
  include: { type: 'array', items: { type: 'string', enum: included.flatMap(({ use }) => use.include ?? []) } },
  cursor: { type: 'string' },
  text_from: { type: 'integer', description: 'Where a text that was cut goes on' },
  idempotency_key: { type: 'string' },
});

/** Whether a tool takes an argument that is of no operation. */
export function takesOwn({ about, parts, included }: Tool, name: OwnArgument): boolean {
  switch (name) {
    case 'action':
      return parts.some(({ use }) => use.action !== undefined);
    case 'include':
      return included.length > 0;
    case 'cursor':
      return about.isPaged === true;
    case 'text_from':
      return about.hasLongTexts === true;
    case 'idempotency_key':
      return parts.some(({ operation }) => honoursIdempotencyKey(operation.meta));
  }
}

/** Two operations may take the same argument: it takes what either of them does. */
function merged(before: JsonSchema | undefined, now: JsonSchema): JsonSchema {
  if (before === undefined) return now;
  const types = new Set([before['type'], now['type']].flat());
  if (types.has(undefined)) return before;
  const type = types.size === 1 ? [...types][0] : [...types];
  return { ...now, ...before, type };
}
