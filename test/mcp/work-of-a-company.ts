import type { Actor, Answer } from '../support/actor.ts';
import { dayAfter } from '../support/hours.ts';
import { setPolicy, submit } from '../support/periods.ts';
import type { Service } from '../support/service.ts';

/* A company as agents meet it: eight people, six projects of twenty tasks, talk, and the time of four weeks. */

const zone = 'Australia/Brisbane';

/** Title of a task, by its project. */
const things: Record<string, [string, string]> = {
  'Winter fair': ['the stalls', 'the stage'],
  'Website relaunch': ['the landing page', 'the contact form'],
  'Bakery app': ['the menu screen', 'the oven timer'],
  'Museum audio guide': ['the audio tracks', 'the floor plan'],
  'Studio operations': ['the invoices', 'the supplier list'],
  'Spring catalogue': ['the cover', 'the price list'],
};
/** A text that is longer than a result shows. */
export const brief = Array.from(
  { length: 180 },
  (_, line) => `${line + 1}. The stage needs ${line + 2} metres of cable, and somebody who knows where they end.`,
).join('\n');
const acts = ['Plan', 'Draft', 'Review', 'Book', 'Order', 'Check', 'Print', 'Translate', 'Photograph', 'Archive'];
const statuses = ['todo', 'in_progress', 'in_progress', 'in_review', 'done'];

const names = {
  priya: ['Priya', 'Raman', 'Delivery lead'],
  tom: ['Tom', 'Baker', 'Carpenter'],
  annaB: ['Anna', 'Berg', 'Designer'],
  annaK: ['Anna', 'Keller', 'Writer'],
  jonas: ['Jonas', 'Lind', 'Engineer'],
  mei: ['Mei', 'Chen', 'Engineer'],
  omar: ['Omar', 'Haddad', 'Photographer'],
} as const;
export type PersonKey = 'marta' | keyof typeof names;

export type Company = {
  people: Record<PersonKey, Actor>;
  projects: Record<string, number>;
  tasks: Record<string, number>;
  /** In the zone of the company. */
  today: string;
  monday: string;
};

/** Makes it, on a Thursday morning: there it is Thursday while it is still Wednesday in UTC. */
export async function makeCompany(service: Service): Promise<Company> {
  const now = service.clock.now();
  const days = (3 - now.getUTCDay() + 7) % 7;
  const wanted = Date.parse(`${dayAfter(now.toISOString().slice(0, 10), days)}T22:30:00Z`);
  service.clock.advance({ ms: wanted - now.getTime() + (wanted < now.getTime() ? 7 * 24 * 3_600_000 : 0) });
  const today = dayAfter(service.clock.now().toISOString().slice(0, 10), 1);
  const monday = dayAfter(today, -3);

  const people = await hire(service);
  const { marta } = people;
  must(await marta.put(`/company/${marta.companyId}/update/`, { timezone: zone }));
  must(await setPolicy(marta, { requireApproval: true, weekStart: 'monday' }));
  const { projects, tasks } = await plan(people, today);
  await talk(people, tasks);
  await work(people, Object.values(tasks), monday);
  // Two weeks ago is closed, and of last week some wait for a decision.
  const before = dayAfter(monday, -14);
  const ids: number[] = [];
  for (const one of [people.priya, people.tom]) ids.push(must(await submit(one, one.employeeId, before))._id);
  must(await marta.post('/api/timesheet-periods/decide/', { period_ids: ids, decision: 'approve' }));
  for (const one of [people.annaB, people.jonas, people.mei])
    must(await submit(one, one.employeeId, dayAfter(monday, -7)));
  await service.drain();
  return { people, projects, tasks, today, monday };
}

function must({ status, body }: Answer) {
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

async function hire(service: Service): Promise<Company['people']> {
  const marta = await service.registerCompany({
    name: 'Harbour Events',
    email: 'marta@example.com',
    firstName: 'Marta',
  });
  const hired: Partial<Company['people']> = { marta };
  for (const [key, [first_name, last_name, designation]] of Object.entries(names)) {
    const email = `${first_name}.${last_name}@example.com`.toLowerCase();
    const isTeamLeader = key === 'priya';
    hired[key as PersonKey] = await service.addEmployee(marta, {
      first_name,
      last_name,
      designation,
      email,
      isTeamLeader,
    });
  }
  return hired as Company['people'];
}

async function plan(people: Company['people'], today: string): Promise<Pick<Company, 'projects' | 'tasks'>> {
  const { marta, priya } = people;
  const owners = Object.values(people);
  const projects: Company['projects'] = {};
  const tasks: Company['tasks'] = {};
  for (const [name, objects] of Object.entries(things)) {
    const project = {
      name,
      description: `All that ${name} needs, from the first idea to the last bill.`,
      allocatedHours: 400,
    };
    projects[name] = must(await priya.post('/api/projects/', project))._id;
    for (const [index, title] of objects.flatMap((object) => acts.map((act) => `${act} ${object}`)).entries()) {
      const number = Object.keys(tasks).length;
      const called = title === 'Plan the stalls' ? 'Set up the winter fair' : title;
      tasks[called] = must(
        await marta.post('/api/tasks/', {
          projectId: projects[name],
          title: called,
          description:
            called === 'Plan the stage'
              ? brief
              : `${called}: agree with the others on what is needed. Write down what it costs, and who has to know.`,
          owner_id: owners[number % owners.length]!.employeeId,
          collaboratorIds: [owners[(number + 3) % owners.length]!.employeeId],
          status: statuses[number % statuses.length],
          dueDate: dayAfter(today, (index % 8) * 5 - 10),
          estimatedHours: 4 + (index % 5) * 4,
        }),
      )._id;
    }
  }
  return { projects, tasks };
}

const remarks = [
  'The first draft is in the shared folder. Please have a look before Friday.',
  'Looks good to me. The second page needs a better picture, though.',
  'We are waiting for the offer of the printer; they promised it for tomorrow.',
];

async function talk(people: Company['people'], tasks: Company['tasks']): Promise<void> {
  const speakers = Object.values(people);
  const say = async (speaker: Actor, taskId: number, message: string) =>
    must(await speaker.post('/api/task-chats/', { taskId, sender: speaker.employeeId, message: `<p>${message}</p>` }));
  for (const [index, taskId] of Object.values(tasks).entries())
    if (index % 3 === 0)
      for (const [turn, remark] of remarks.entries()) await say(speakers[(index + turn) % 8]!, taskId, remark);
  // One that everybody talks about: longer than a result.
  for (let turn = 0; turn < 40; turn += 1)
    await say(
      speakers[turn % 8]!,
      tasks['Review the cover']!,
      `Round ${turn + 1}. ${remarks.join(' ')} ${'The blue is too dark on paper. '.repeat(3)}`,
    );
}

/** Two logs on each workday of four weeks, up to Tuesday of this one. */
async function work({ marta, ...others }: Company['people'], tasks: number[], monday: string): Promise<void> {
  for (const [index, person] of [marta, ...Object.values(others)].entries()) {
    const own = tasks.filter((_, task) => task % 8 === index);
    const days = [-21, -14, -7, 0].flatMap((week) => [0, 1, 2, 3, 4].map((day) => week + day)).filter((day) => day < 2);
    const logs = days.flatMap((day) =>
      (['09 12', '13 17'] as const).map((hours, half) => {
        const [startTime, endTime] = hours.split(' ').map((hour) => `${dayAfter(monday, day)}T${hour}:00:00+10:00`);
        const taskId = own[(day + 21 + half) % own.length];
        return { taskId, userId: person.employeeId, startTime, endTime, description: 'As planned', manualAdd: true };
      }),
    );
    must(await marta.post(`/tasklogs/bulk/create/${person.employeeId}/`, logs));
  }
}
