import { readFileSync } from 'node:fs';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  createClient,
  isApiError,
  type Answer,
  type EventOf,
  type ApiError,
  type ApiErrorCode,
} from 'work-management-client';
import type {
  Call,
  Client,
  Download,
  Input,
  Issue,
  OperationTypes,
  Operations,
  Page,
  Project,
  StreamTypes,
  Task,
  Upload,
  WithResponse,
} from 'work-management-client';
import { proceduresOf } from '../../client-sdk/generate/operations.ts';
import { sourcesOf } from '../../client-sdk/generate/source.ts';
import { definedErrors } from '../../server/errors/api-error.ts';
import { issueCodes, type IssueCode } from '../../server/errors/issues.ts';
import { appRouter, type AppRouter } from '../../server/router.ts';

/* The client's types are written, not inferred, so that they read well; here the compiler holds them to the router. */

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;
type NamesOf<Sections> = {
  [Section in keyof Sections & string]: `${Section}.${keyof Sections[Section] & string}`;
}[keyof Sections & string];
type Of<Sections, Name extends string> = Name extends `${infer Section}.${infer Verb}`
  ? Section extends keyof Sections
    ? Verb extends keyof Sections[Section]
      ? Sections[Section][Verb]
      : never
    : never
  : never;

/** The names for which two types do not take each other's values. */
type Differing<Names extends string, Left, Right> = {
  [Name in Names]: [Of<Left, Name>] extends [never]
    ? Name
    : Name extends keyof Right
      ? [Of<Left, Name>, Right[Name]] extends [Right[Name], Of<Left, Name>]
        ? never
        : Name
      : Name;
}[Names];

const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
const procedures = Object.keys(appRouter._def.procedures);

/** The methods that answer files. */
type FileName = 'audit.csv' | 'audit.jsonl' | 'timesheets.csv' | 'timesheets.pdf' | 'timesheets.xlsx';

test('every operation of the router is a method of the client, and nothing else is', () => {
  const reachable = Object.entries(client).flatMap(([section, its]) =>
    typeof its === 'object' && its !== null ? Object.keys(its as object).map((verb) => `${section}.${verb}`) : [],
  );
  const files: FileName[] = ['audit.csv', 'audit.jsonl', 'timesheets.csv', 'timesheets.pdf', 'timesheets.xlsx'];
  expect(reachable.toSorted()).toEqual([...procedures, ...files].toSorted());
  expect(procedures.length).toBeGreaterThan(50);
  for (const name of procedures) {
    const [section, verb] = name.split('.') as [keyof Operations, string];
    expect(client[section][verb as never]).toBeTypeOf('function');
  }
  expectTypeOf<Exclude<NamesOf<Operations>, FileName>>().toEqualTypeOf<NamesOf<Inputs>>();
  expectTypeOf<keyof OperationTypes | keyof StreamTypes>().toEqualTypeOf<NamesOf<Inputs>>();
});

describe('the compiler finds', () => {
  /** What a file is asked for with has no meaning over tRPC, and is left out. */
  type WithoutFiles = Omit<Inputs, 'timesheets'> & { timesheets: { get: Omit<Inputs['timesheets']['get'], 'format'> } };
  /** Letters of either case are for callers without types: the client offers the words as they are documented. */
  type AppType = Pick<NonNullable<Input<'notifications.list'>>, 'app_type'>;
  type InWords = Omit<WithoutFiles, 'notifications'> & {
    notifications: Omit<Inputs['notifications'], 'list'> & {
      list: Omit<Inputs['notifications']['list'], 'app_type'> & AppType;
    };
  };
  /** Files are sent as text. */
  type Sent<Field> = [Exclude<Upload, string>] extends [Field] ? Exclude<Field, Exclude<Upload, string>> : Field;
  /** What the session fills, the router requires. */
  type Filled<Given, Taken> = {
    [Field in keyof Given as {} extends Pick<Taken, Field & keyof Taken> ? Field : never]?: Sent<Given[Field]>;
  } & { [Field in keyof Given as {} extends Pick<Taken, Field & keyof Taken> ? never : Field]-?: Sent<Given[Field]> };
  /** What may be left out as a whole the client sends as an empty one. */
  type InputTypes = { [Name in Taking]: Filled<NonNullable<OperationTypes[Name]['input']>, Of<InWords, Name>> };
  type Bare = { [Name in keyof OperationTypes]: Of<Inputs, Name> extends void ? Name : never }[keyof OperationTypes];
  type Taking = Exclude<keyof OperationTypes, Bare>;
  type AnswerTypes = { [Name in keyof OperationTypes]: OperationTypes[Name]['answer'] };

  test('each input to take what the router takes, and each answer to be what it answers', () => {
    expectTypeOf<Differing<Taking, InWords, InputTypes>>().toEqualTypeOf<never>();
    expectTypeOf<Differing<keyof OperationTypes, Outputs, AnswerTypes>>().toEqualTypeOf<never>();
    expectTypeOf<OperationTypes[Bare]['input']>().toEqualTypeOf<undefined>();
  });

  test('each event of a stream to be one that the router sends', () => {
    type Sent<Stream> = Stream extends AsyncIterable<{ data: infer Event }> ? Event : never;
    type Comments = Exclude<Sent<Outputs['comments']['onTask']>, { type: 'stream.opened' }>;
    type Mine = Exclude<Sent<Outputs['notifications']['onMine']>, { type: 'stream.opened' }>;
    expectTypeOf<Comments['type']>().toEqualTypeOf<EventOf<'comments.onTask'>['type']>();
    expectTypeOf<EventOf<'comments.onTask'>>().toExtend<Comments>();
    expectTypeOf<Comments>().toExtend<EventOf<'comments.onTask'>>();
    expectTypeOf<Mine['type']>().toEqualTypeOf<EventOf<'notifications.onMine'>['type']>();
    expectTypeOf<EventOf<'notifications.onMine'>>().toExtend<Mine>();
    expectTypeOf<Mine>().toExtend<EventOf<'notifications.onMine'>>();
  });

  test('the methods to have these types', () => {
    expectTypeOf(client.tasks.create).parameter(0).toEqualTypeOf<Input<'tasks.create'>>();
    expectTypeOf(client.tasks.create).returns.resolves.toEqualTypeOf<Answer<'tasks.create'>>();
    expectTypeOf<Awaited<ReturnType<Client['tasks']['list']>>['results'][number]>().toEqualTypeOf<Task>();
    type WithResponseOf<Result extends Call<unknown>> = Awaited<ReturnType<Result['withResponse']>>;
    expectTypeOf<WithResponseOf<ReturnType<Client['tasks']['get']>>>().toEqualTypeOf<WithResponse<Task>>();
    expectTypeOf<WithResponseOf<ReturnType<Client['tasks']['list']>>>().toEqualTypeOf<
      WithResponse<Answer<'tasks.list'>>
    >();
    expectTypeOf<WithResponseOf<ReturnType<Client['projects']['list']>>>().toEqualTypeOf<WithResponse<Page<Project>>>();
    expectTypeOf<WithResponseOf<ReturnType<Client['timesheets']['csv']>>>().toEqualTypeOf<WithResponse<Download>>();
    type Methods<Section> = {
      [Verb in keyof Section]: Section[Verb] extends (...parameters: never[]) => infer Result ? Awaited<Result> : never;
    };
    type Results = { [Section in keyof Operations]: Methods<Operations[Section]> };
    expectTypeOf<Differing<keyof OperationTypes, Results, AnswerTypes>>().toEqualTypeOf<never>();
  });

  test('an API error by its code', () => {
    const error: unknown = undefined;
    if (isApiError(error, 'DUPLICATE_TASK_LOG', 'NOT_FOUND')) {
      expectTypeOf(error).toEqualTypeOf<ApiError<'DUPLICATE_TASK_LOG' | 'NOT_FOUND'>>();
      expectTypeOf(error.code).toEqualTypeOf<'DUPLICATE_TASK_LOG' | 'NOT_FOUND'>();
    }
    if (isApiError(error)) expectTypeOf(error.code).toEqualTypeOf<ApiErrorCode>();
    // @ts-expect-error no error of this name is declared
    isApiError(error, 'DUPLICATE_LOG');
    expectTypeOf<Issue['code']>().toEqualTypeOf<IssueCode>();
    // @ts-expect-error no issue has this code
    const isMissing = ({ code }: Issue) => code === 'missing';
    expect(isMissing).toBeTypeOf('function');
    // @ts-expect-error a title is required
    const call = () => client.tasks.create({ projectId: 1 });
    expect(call).toBeTypeOf('function');
  });
});

test('what may be left out is the company, and the employee of operations that are for their caller', () => {
  const left = proceduresOf(appRouter).flatMap(({ name, fromSession }) =>
    [...fromSession].map(([field, source]) => ({ name, field, source })),
  );
  const companies = left.filter(({ source }) => source === 'company');
  expect(companies.length).toBeGreaterThan(15);
  expect(new Set(companies.map(({ field }) => field))).toEqual(new Set(['company_id', 'companyId']));
  // One more here must be an operation in which nobody names somebody else by mistake.
  const own = left.filter(({ source }) => source === 'employee').map(({ name, field }) => `${name} ${field}`);
  expect(own).toEqual([
    'passwords.change employee_id',
    'taskLogs.create employee_id',
    'timers.discard employee_id',
    'timers.get employee_id',
    'timesheetPeriods.submit employee_id',
    'workingHours.list employee_id',
    'balances.get employee_id',
    'comments.create sender',
    'comments.like employee_id',
    'comments.unlike employee_id',
    'notifications.list recipient_id',
    'notifications.countUnread user_id',
    'notifications.readAll user_id',
    'notifications.clear user_id',
    'notifications.getPreferences employee_id',
    'notifications.updatePreferences employee_id',
  ]);
});

test('the files that are made of the definitions are current', () => {
  const { contract, operations } = sourcesOf(proceduresOf(appRouter), definedErrors());
  const read = (name: string) => readFileSync(new URL(`../../client-sdk/src/${name}.ts`, import.meta.url), 'utf8');
  // On a difference: `npm run generate`.
  expect(read('contract') === contract && read('operations') === operations).toBe(true);
  for (const { code, status } of definedErrors()) expect(contract).toContain(`  ${code}: ${status};\n`);
  for (const code of Object.keys(issueCodes)) expect(contract).toContain(`  ${code}: true;\n`);
});
