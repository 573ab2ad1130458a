import { isApiError, type Client, type Employee } from 'work-management-client';
import { columns, readInvitations, type Invitation } from './invitations/read-invitations.ts';
import { connect, connectionHelp } from './terminal/connection.ts';
import { plainJson, plainLine } from './terminal/plain-text.ts';
import { Problem } from './terminal/problem.ts';
import { showProgress } from './terminal/progress.ts';
import { readTable } from './terminal/read-table.ts';
import { onlyOperand, run, type Call } from './terminal/run.ts';
import { count, explain, listProblems } from './terminal/sentences.ts';

const help = `
Invites the people in a CSV file to the company. For admins.

  node invite-employees.ts [options] FILE        FILE may be - for the standard input

Columns, by the names in its first line:
  email, first_name, last_name
  designation, phone, salary      may be missing
  is_admin, is_team_leader        yes or no; may be missing

Options:
  --column NAME=THEIRS    what the file calls a column, as in --column email=Mail; as often as needed
  --update-roles          makes those who are there already admins and team leaders, where the file says so
  --dry-run               checks every row and says who would be invited, and does nothing
  --json                  the report as JSON

All rows are checked first, and nothing is done where one is wrong. People who are employees already are skipped, so the same file
can be used again at any time. Where one invitation fails, the others go on.
${connectionHelp}`;

const options = {
  column: { type: 'string', multiple: true },
  'update-roles': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type Done = { line: number; email: string; what: 'invited' | 'updated' | 'skipped' | 'failed'; note?: string };

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  const { json = false, 'dry-run': isDry = false, 'update-roles': updatesRoles = false } = values;
  const file = onlyOperand(operands, 'which file has the people');
  const table = await readTable(file, {
    columns,
    required: [['email'], ['first_name'], ['last_name']],
    renames: values.column,
  });
  const { invitations, problems } = readInvitations(table);
  if (problems.length > 0) {
    if (json) process.stdout.write(`${plainJson({ file: table.name, status: 'invalid', problems }, 2)}\n`);
    process.stderr.write(`${listProblems(problems)}Nobody was invited. Correct the file and run this again.\n`);
    return 1;
  }

  const connection = await connect(values, signal);
  const done: Done[] = [];
  const progress = showProgress(invitations.length, 'row', signal);
  let failure: unknown;
  try {
    const { client } = connection;
    const company_id = connection.companyId;
    const { employees } = await client.employees.list({ company_id }, { signal });
    const there = new Map(employees.map((employee) => [employee.email, employee]));
    const inviting = { client, company_id, updatesRoles, isDry };
    for (const invitation of invitations) {
      // Between people only: an aborted call would leave open whether somebody is invited.
      signal.throwIfAborted();
      done.push(await reconcile(inviting, invitation, there.get(invitation.email)));
      progress.update(done.length);
    }
  } catch (error) {
    failure = error;
  } finally {
    progress.clear();
    await connection.close();
  }

  process.stdout.write(
    json ? `${plainJson({ file: table.name, dryRun: isDry, rows: done }, 2)}\n` : textOf(done, isDry),
  );
  if (failure !== undefined) {
    const next = `${count(invitations.length - done.length, 'row')} left. Run the same command again to go on.`;
    throw new Problem(`${explain(failure, values.url)}\n${next}`);
  }
  return done.some(({ what }) => what === 'failed') ? 1 : 0;
}

type Inviting = { client: Client; company_id: number; updatesRoles: boolean; isDry: boolean };

/** Does what is to be done about one person. Only what would stop all the others is thrown. */
async function reconcile(inviting: Inviting, invitation: Invitation, there: Employee | undefined): Promise<Done> {
  const { line, email, is_admin: isAdmin, is_team_leader: isTeamLeader, ...person } = invitation;
  const { client, company_id: companyId, updatesRoles, isDry } = inviting;
  const roles = { ...(isAdmin ? { isAdmin } : {}), ...(isTeamLeader ? { isTeamLeader } : {}) };
  const words = [isAdmin ? 'admin' : [], isTeamLeader ? 'team leader' : []].flat().join(' and ');
  // Hundreds of invitations exceed the rate limit, so some wait.
  const patience = { timeoutMs: 300_000 };
  const say = (what: Done['what'], note?: string): Done => ({ line, email, what, ...(note ? { note } : {}) });
  let added: Employee | undefined;
  try {
    if (there) {
      const lacks = (isAdmin && !there.isAdmin) || (isTeamLeader && !there.isTeamLeader);
      if (there.isDeleted) return say('skipped', 'was deleted from the company: restore them there');
      if (!lacks) return say('skipped', 'is there already');
      if (!updatesRoles) return say('skipped', `is there already, but is not ${words}: --update-roles changes that`);
      if (!isDry) await client.employees.update({ _id: there._id, ...roles }, patience);
      return say('updated', `is ${words} now`);
    }
    if (isDry) return say('invited');
    added = await client.employees.create({ ...person, email, companyId }, patience);
    if (words !== '') await client.employees.update({ _id: added._id, ...roles }, patience);
    return say('invited', words === '' ? undefined : `was invited as ${words}`);
  } catch (error) {
    if (isApiError(error, 'EMPLOYEE_EXISTS')) return say('skipped', 'is there already');
    if (!isApiError(error, 'VALIDATION_FAILED', 'NOT_FOUND', 'INTERNAL_ERROR')) throw error;
    const invited = added ? `was invited, but is not ${words} yet (--update-roles tries that again): ` : '';
    return say('failed', invited + explain(error));
  }
}

function textOf(done: readonly Done[], isDry: boolean): string {
  const lines = done
    .filter(({ note }) => note !== undefined)
    .map(
      ({ line, email, what, note }) =>
        `line ${line}: ${plainLine(email)} ${what === 'failed' ? 'failed: ' : ''}${note}\n`,
    );
  const sums = (['invited', 'updated', 'skipped', 'failed'] as const).map(
    (what) => `  ${what.padEnd(9)}${String(done.filter((one) => one.what === what).length).padStart(6)}\n`,
  );
  return `${lines.join('')}${isDry ? 'Nothing was done; it would be:\n' : ''}${sums.join('')}`;
}

await run(help, options, main);
