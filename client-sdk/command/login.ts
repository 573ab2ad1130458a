import { createClient, isApiError, isCompanyChoice, type Client, type CompanyChoice } from 'work-management-client';
import { plainLine } from '../examples/terminal/plain-text.ts';
import { createQuestions, type Questions } from './ask.ts';
import { findCaller, nameOf } from './caller.ts';
import { checkUrl, findUrl, localUrl, setting, withKey } from './connect.ts';
import { chooseByName } from './look-up.ts';
import { UsageProblem } from './problem.ts';
import { openSignInFile, type SignIn, type SignInFile } from './sign-in-file.ts';
import type { Shortcut } from './shortcuts.ts';

const help = `
Usage: wms login [--url ADDRESS] [--email ADDRESS] [--password | --key]

Signs in at a service and remembers it for the next commands, in a file that
only you can read. It sends a code to your address and asks for it.

Flags:
  --url ADDRESS     where the service is; WMS_URL, else the last one, else
                    ${localUrl}
  --email ADDRESS   your e-mail address; asked for unless given
  --password        asks for your password instead of a code
  --key             asks for an API key instead; \`--key -\` reads it from the
                    standard input
  --company NAME    which company, where you are in several; asked for unless
                    given

Nothing secret can be given on the command line, where other people of the
machine could read it.

Example:
  wms login --url https://api.example.com --email ada@example.com
`;

export const login: Shortcut = {
  help,
  flags: {
    help: { type: 'boolean', short: 'h' },
    url: { type: 'string' },
    email: { type: 'string' },
    company: { type: 'string' },
    password: { type: 'boolean' },
    key: { type: 'boolean' },
  },
  async run({ values, operands }, { signal, print }) {
    const isByKey = values['key'] === true;
    if (operands.length > (isByKey ? 1 : 0) || (operands[0] ?? '-') !== '-')
      throw new UsageProblem(
        '`wms login` takes flags only, and no secret on the command line: see `wms login --help`.',
      );
    if (isByKey && values['password'] === true) throw new UsageProblem('--key and --password contradict each other.');
    const file = openSignInFile();
    const before = file.read();
    const url = typeof values['url'] === 'string' ? checkUrl('--url', values['url']) : findUrl(before);
    const questions = createQuestions(signal);
    const call: LoginCall = { url, file, questions, signal, email: values['email'], company: values['company'] };
    try {
      const client = isByKey
        ? await loginByKey(call)
        : await loginByPerson(call, values['password'] === true ? 'password' : 'code');
      await endSession(before, signal);
      // The sign-in is stored, so it has succeeded even if this fails.
      const caller = await findCaller(client, signal).catch(() => undefined);
      if (caller === undefined) print(`Signed in at ${url}.\n`);
      else if (caller) print(`Signed in at ${url} as ${nameOf(caller)}.\n`);
      else print(`Signed in at ${url}. You are in no company yet: \`wms invitations list\` shows who invites you.\n`);
      if (setting('WMS_API_KEY') !== undefined)
        process.stderr.write('WMS_API_KEY is set, and is used instead as long as it is.\n');
      client.close();
    } finally {
      questions.close();
    }
  },
};

type LoginCall = {
  url: string;
  file: SignInFile;
  questions: Questions;
  signal: AbortSignal;
  email: unknown;
  company: unknown;
};

async function loginByKey({ url, file, questions, signal }: LoginCall): Promise<Client> {
  const apiKey = await questions.askSecret('API key: ', 'Pipe the key into `wms login --key -`.');
  const client = withKey(url, apiKey, 'What you gave');
  // Only a key that works is stored.
  await findCaller(client, signal);
  file.write({ url, apiKey });
  return client;
}

/** As many wrong tries as the service allows before it invalidates the code. */
const codeTriesMax = 5;

async function loginByPerson(call: LoginCall, way: 'code' | 'password'): Promise<Client> {
  const { url, file, questions, signal, company } = call;
  const { onSession } = file.keeping(url);
  const client = createClient({ baseUrl: url, onSession });
  const email = typeof call.email === 'string' ? call.email : await questions.ask('E-mail address: ', 'Give --email.');
  const answer = await (way === 'password' ? byPassword() : byCode());
  if (isCompanyChoice(answer)) {
    const company_id = await chooseCompany(answer, company, questions);
    await client.chooseCompany(answer, { email, company_id }, { signal });
  }
  return client;

  async function byPassword() {
    const password = await questions.askSecret('Password: ', 'Pipe it in.');
    return client.auth.login({ email, password }, { signal });
  }

  async function byCode() {
    await client.auth.verifyEmail({ email }, { signal });
    process.stderr.write(`A code is on its way to ${plainLine(email)}; it is good for 10 minutes.\n`);
    for (let tries = 1; ; tries += 1) {
      const otp = await questions.ask('Code: ', 'Pipe it in.');
      try {
        return await client.auth.otpLogin({ email, otp }, { signal });
      } catch (error) {
        const isWrong = isApiError(error, 'INVALID_OTP', 'VALIDATION_FAILED');
        if (!isWrong || tries === codeTriesMax || !process.stdin.isTTY) throw error;
        process.stderr.write(`${error.message.replace(/^otp/, 'The code')}\n`);
      }
    }
  }
}

async function chooseCompany({ companies }: CompanyChoice, given: unknown, questions: Questions): Promise<number> {
  const candidates = companies.map(({ company_id, company_name }) => ({ id: company_id, names: [company_name] }));
  const choose = (text: string): number =>
    candidates.find(({ id }) => String(id) === text)?.id ?? chooseByName('company', text, candidates);
  if (typeof given === 'string') return choose(given);
  const list = companies.map(({ company_id, company_name }) => `  ${company_id}  ${plainLine(company_name)}\n`);
  process.stderr.write(`You are in several companies:\n${list.join('')}`);
  return choose(await questions.ask('Company, by its number or name: ', 'Give --company.'));
}

/** The session of before is of no use any more. If that fails, it ends by itself. */
async function endSession(before: SignIn | null, signal: AbortSignal): Promise<void> {
  if (!before?.session) return;
  const old = createClient({ baseUrl: before.url, session: before.session });
  await old.auth.logout({ signal, timeoutMs: 3_000, retries: 0 }).catch(() => {});
}
