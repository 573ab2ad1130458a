import type { Mails } from './mails.ts';

/*
 * The people who call, made through the real steps: a company with an admin and a member, and another company. A world is
 * worn out by what its people do to it (passwords are changed, admins leave), and another one is made.
 */

export const password = 'correct horse battery staple';
/** Stands in what the other company keeps, and nobody else ever gets to read it. */
export const foreignMark = 'OnlyTheirsToRead';

export type Actor = {
  name: string;
  companyId: number;
  employeeId: number;
  email: string;
  /** What proves who calls. */
  proof: [name: string, value: string][];
  isKey: boolean;
};

export type World = {
  actors: Map<string, Actor>;
  /** Signs in everybody who is signed out; false if somebody cannot sign in any more. */
  refresh(): Promise<boolean>;
};

/** Calls the service as it is documented, and throws where that is refused. */
export type Call = (method: string, path: string, body: unknown, actor?: Actor) => Promise<Answered>;
type Answered = Record<string, unknown> & { employee: { _id: number }; company: { company_id: number } };

export async function createWorld(call: Call, mails: Mails, number: string): Promise<World> {
  const actors = new Map<string, Actor>();
  const code = /\b(\d{6})\b/;

  async function setPassword(email: string): Promise<void> {
    await call('POST', '/reset/link/', { email });
    const token = await mails.next(email, /reset-password\?token=([\w-]+)/);
    await call('POST', '/reset/verify/', { token, new_password: password, confirm_password: password });
  }

  async function signIn(email: string, companyId: number | undefined) {
    const company = companyId === undefined ? {} : { company_id: companyId };
    const body = await call('POST', '/login/', { email, password, ...company });
    return {
      employeeId: body.employee._id,
      proof: [
        ['Authorization', `Bearer ${String(body['access_token'])}`],
        ['X-Refresh-Token', String(body['refresh_token'])],
      ] as Actor['proof'],
    };
  }

  async function add(name: string, companyId: number, email: string): Promise<Actor> {
    const actor: Actor = { name, companyId, email, isKey: false, ...(await signIn(email, companyId)) };
    actors.set(name, actor);
    return actor;
  }

  async function register(name: string, companyName: string): Promise<Actor> {
    const email = `${name}${number}@example.com`;
    await call('POST', '/get-register-otp/', { email });
    const otp = await mails.next(email, code);
    const people = { first_name: name === 'neighbour' ? foreignMark : 'Ada', last_name: 'Lovelace' };
    const made = await call('POST', '/api/create-company-and-employee/', {
      company_name: companyName,
      email,
      otp,
      ...people,
    });
    await setPassword(email);
    return add(name, made.company.company_id, email);
  }

  // As in the example of closing it, which repeats the name.
  const admin = await register('admin', 'Analytical Engines');
  const memberEmail = `member${number}@example.com`;
  const person = { first_name: 'Grace', last_name: 'Hopper', email: memberEmail, companyId: admin.companyId };
  await call('POST', '/employee/add/', person, admin);
  // A code that was sent after the invitation proves the address, and so accepts it.
  await call('POST', '/verify-email/', { email: memberEmail });
  const otp = await mails.next(memberEmail, new RegExp(`code[^]*${code.source}`));
  await call('POST', '/otp-login/', { email: memberEmail, otp });
  await setPassword(memberEmail);
  await add('member', admin.companyId, memberEmail);
  await register('neighbour', `${foreignMark} ${number}`);

  async function makeKey(name: string, scopes: string[]): Promise<void> {
    const { key } = await call('POST', '/api/api-keys/', { name, scopes }, admin);
    actors.set(name, { ...admin, name, isKey: true, proof: [['Authorization', `Bearer ${String(key)}`]] });
  }
  await makeKey('apiKey', ['read', 'write']);
  await makeKey('readKey', ['read', 'login']);
  await fill(call, actors);

  async function refresh(): Promise<boolean> {
    for (const actor of actors.values()) {
      try {
        // Tells whether they are signed in still, and what has come for them.
        await call('GET', `/notifications/recipient/${actor.employeeId}/`, undefined, actor);
      } catch {
        if (actor.isKey) return false;
        try {
          Object.assign(actor, await signIn(actor.email, actor.companyId));
        } catch {
          return false;
        }
      }
    }
    return reopen();
  }

  /** Nothing can be changed while the company is closed; a world whose owner may not reopen it is worn out. */
  async function reopen(): Promise<boolean> {
    try {
      await call('POST', `/api/company/${admin.companyId}/reopen/`, undefined, actors.get('admin'));
      return true;
    } catch {
      return false;
    }
  }

  return { actors, refresh };
}

/** One of each thing in each company, so that there is something to name from the first request on. */
async function fill(call: Call, actors: Map<string, Actor>): Promise<void> {
  const [admin, member, neighbour] = ['admin', 'member', 'neighbour'].map((name) => actors.get(name)!) as [
    Actor,
    Actor,
    Actor,
  ];
  for (const actor of [admin, neighbour]) {
    const word = actor === neighbour ? foreignMark : 'Difference Engine';
    const project = await call('POST', '/api/projects/', { name: word, description: word, allocatedHours: 2 }, actor);
    const { _id: task } = await call('POST', '/api/tasks/', { projectId: project['_id'], title: word }, actor);
    const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T09:30:00Z', description: word };
    await call('POST', '/tasklog/create/', { task_id: task, employee_id: actor.employeeId, ...times }, actor);
    for (const author of actor === admin ? [admin, member] : [neighbour])
      await call('POST', '/api/task-chats/', { taskId: task, sender: author.employeeId, message: word }, author);
    const rate = {
      project_id: project['_id'],
      validFrom: '2026-01-01',
      hourlyRate: { minorUnits: 7000, currency: 'EUR' },
    };
    await call('PUT', `/api/rates/${actor.companyId}/`, rate, actor);
    // Long before any other time, so that their locks refuse nothing.
    await call('PUT', `/api/time-policy/${actor.companyId}/`, { requireApproval: true }, actor);
    for (const period_start of ['2020-01-06', '2020-01-13'])
      await call('POST', '/api/timesheet-periods/submit/', { employee_id: actor.employeeId, period_start }, actor);
    // Nobody listens there.
    const webhook = { url: 'http://127.0.0.1:9/', events: ['task.created'], description: word };
    const { _id: webhookId } = await call('POST', '/api/webhooks/', webhook, actor);
    await call('POST', `/api/webhooks/${String(webhookId)}/test/`, undefined, actor);
    await call('GET', `/api/webhooks/${String(webhookId)}/deliveries/`, undefined, actor);
  }
}
