import {
  createCaller,
  got,
  headersOf,
  keyHeader,
  type Answer,
  type Caller,
  type Headings,
  type Pair,
} from './caller.ts';
import type { Mails } from './service.ts';

/** An employee with a session. */
export type Person = Caller & { _id: number; companyId: number; email: string; name: string; pair: Pair };
type Fields = Record<string, unknown>;

/** How people come to be, through the documented steps alone. */
export type People = {
  as(pair: Pair): Caller;
  asKey(key: string): Caller;
  /** An address that nobody has. */
  newEmail(): string;
  /** Has a code sent, and takes it from the mail. */
  codeFor(email: string, operation?: '/verify-email/' | '/get-register-otp/'): Promise<string>;
  codeLogin(email: string, extra?: Fields): Promise<Answer>;
  /** Registers a company; answers its admin. */
  register(fields?: Fields): Promise<Person>;
  /** Adds an employee, who is invited and has not accepted; answers the record. */
  invite(admin: Caller & { companyId: number }, fields?: Fields): Promise<Answer['body']>;
  /** Adds an employee who accepts by a one-time code. */
  join(admin: Caller & { companyId: number }, fields?: Fields): Promise<Person>;
  setPassword(email: string, password?: string): Promise<void>;
  makeKey(admin: Caller, scopes: string[]): Promise<{ _id: number; key: string } & Caller>;
};

export const password = 'correct horse battery staple';
const codePattern = /\b(\d{6})\b/;

export function createPeople(url: string, mails: Mails): People {
  const anonymous = createCaller(url);
  let made = 0;
  const newEmail = (): string => `person${(made += 1)}@example.com`;

  function toPerson(body: Answer['body']): Person {
    const { employee } = body;
    const pair: Pair = { access_token: body.access_token, refresh_token: body.refresh_token };
    const { _id, companyId, email, name } = employee;
    return { ...createCaller(url, headersOf(pair)), _id, companyId, email, name, pair };
  }

  async function codeFor(email: string, operation: string = '/verify-email/'): Promise<string> {
    const template = operation === '/verify-email/' ? 'login-code' : 'registration-code';
    const ask = async () => got(await anonymous.post(operation, { email }));
    return codePattern.exec((await mails.causedBy(ask, email, template)).text)![1]!;
  }

  const codeLogin = async (email: string, extra: Fields = {}): Promise<Answer> =>
    anonymous.post('/otp-login/', { email, otp: await codeFor(email), ...extra });

  async function register(fields: Fields = {}): Promise<Person> {
    const email = (fields['email'] as string | undefined) ?? newEmail();
    const otp = await codeFor(email, '/get-register-otp/');
    const names = { company_name: 'Analytical Engines', first_name: 'Ada', last_name: 'Lovelace' };
    return toPerson(
      got(await anonymous.post('/api/create-company-and-employee/', { ...names, email, otp, ...fields })),
    );
  }

  async function invite(admin: Caller & { companyId: number }, fields: Fields = {}): Promise<Answer['body']> {
    const person = { first_name: 'Grace', last_name: 'Hopper', email: newEmail(), companyId: admin.companyId };
    return got(await admin.post('/employee/add/', { ...person, ...fields }));
  }

  async function join(admin: Caller & { companyId: number }, fields: Fields = {}): Promise<Person> {
    const { email } = await invite(admin, fields);
    return toPerson(got(await codeLogin(email)));
  }

  async function setPassword(email: string, chosen: string = password): Promise<void> {
    const ask = async () => got(await anonymous.post('/reset/link/', { email }));
    const { text } = await mails.causedBy(ask, email, 'password-reset');
    const token = /token=([\w-]+)/.exec(text)![1]!;
    got(await anonymous.post('/reset/verify/', { token, new_password: chosen, confirm_password: chosen }));
  }

  async function makeKey(admin: Caller, scopes: string[]) {
    const { _id, key } = got(await admin.post('/api/api-keys/', { name: 'A key', scopes }));
    return { ...createCaller(url, keyHeader(key)), _id: _id as number, key: key as string };
  }

  const as = (pair: Pair): Caller => createCaller(url, headersOf(pair));
  const asKey = (key: string): Caller => createCaller(url, keyHeader(key));
  return { as, asKey, newEmail, codeFor, codeLogin, register, invite, join, setPassword, makeKey };
}

/** Credentials of a person, for requests that are not made through them. */
export const proofOf = ({ pair }: Person): Headings => headersOf(pair);
