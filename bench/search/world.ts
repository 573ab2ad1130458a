import type pg from 'pg';
import { copyIn } from '../time/copy-in.ts';

/*
 * Companies with many documents, beside companies with a thousand each whose rows lie between theirs. Words are drawn as
 * in natural texts: the n-th word of the vocabulary is n times rarer than the first one. Every twentieth document is Japanese.
 */

const vocabularySize = 50_000;
const people = 2_000;
const projects = 500;
const companiesBeside = 200;
const beside = { tasks: 500, comments: 500 };
const linesPerChunk = 2_000;

/** Numbers from 0 to 1 that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const random = createRandom(7);
const syllables =
  'ba be bi bo da de di do fa fe ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si ta te ti to va ve'.split(
    ' ',
  );

/** The words of the texts, the most frequent first. The first 20 are short, as in most languages. */
export const vocabulary: readonly string[] = makeVocabulary();

function makeVocabulary(): string[] {
  const words = new Set<string>();
  while (words.size < vocabularySize) {
    const length = words.size < 20 ? 1 + Math.floor(random() * 2) : 2 + Math.floor(random() * 3);
    words.add(
      Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join('') +
        (random() < 0.3 ? 'n' : ''),
    );
  }
  return [...words];
}

const drawWord = (): string => vocabulary[Math.floor(Math.exp(random() * Math.log(vocabularySize))) - 1]!;
const drawJapanese = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(0x4e00 + Math.floor(random() ** 3 * 2_000))).join('');

function drawText(words: number): string {
  if (random() < 0.05) return drawJapanese(words * 2);
  return Array.from({ length: words }, drawWord).join(' ');
}

export type Large = { companyId: number; documents: number };
type Report = (what: string) => void;

export async function makeWorld(client: pg.Client, large: readonly Large[], report: Report): Promise<void> {
  await client.query('set session_replication_role = replica');
  const restore = await dropIndexes(client);
  const others = await makeCompanies(client);
  const ids = large.map(({ companyId }) => companyId);
  for (const id of [...ids, ...others])
    await makePeopleAndProjects(client, id, ids.includes(id) ? { people, projects } : { people: 5, projects: 5 });
  const tasks = large.map(({ documents }) => Math.round(documents * 0.4));
  const comments = large.map(({ documents }) => Math.round(documents * 0.6) - people - projects);
  await copyTasks(client, spread(ids, tasks, { others, each: beside.tasks }), report);
  await copyComments(client, spread(ids, comments, { others, each: beside.comments }), report);
  await client.query('set session_replication_role = origin');
  await restore(report);
  report('vacuum');
  await client.query('vacuum (analyze)');
}

/** The company of each of many rows, those of the others evenly between. */
function* spread(
  ids: number[],
  counts: number[],
  { others, each }: { others: number[]; each: number },
): Generator<number> {
  let other = 0;
  for (const [index, companyId] of ids.entries()) {
    const count = counts[index]!;
    const every = Math.ceil((count * ids.length) / (others.length * each));
    for (let n = 0; n < count; n++) {
      yield companyId;
      if (n % every === 0) yield others[other++ % others.length]!;
    }
  }
}

async function makeCompanies(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ company_id: string }>(`
    insert into companies (name, timezone, created_at, updated_at)
    select 'Beside ' || n, 'UTC', now(), now() from generate_series(1, ${companiesBeside}) as n returning company_id`);
  return rows.map((row) => Number(row.company_id));
}

async function makePeopleAndProjects(
  client: pg.Client,
  companyId: number,
  count: { people: number; projects: number },
) {
  const names = Array.from({ length: count.people }, () => [drawWord(), drawWord(), drawWord()]);
  await client.query(
    `insert into employees (company_id, email, first_name, last_name, designation, search_text, created_at, updated_at)
    select $1::bigint, 'p' || n || '@beside-' || $1::bigint || '.example', f, l, d, ' ' || f, now(), now()
    from unnest($2::text[], $3::text[], $4::text[]) with ordinality as x (f, l, d, n)`,
    [companyId, names.map((one) => one[0]), names.map((one) => one[1]), names.map((one) => one[2])],
  );
  await client.query(
    `insert into projects (company_id, name, description, owner_id, created_at, updated_at)
    select $1::bigint, name, name, 1, now(), now() from unnest($2::text[]) as name`,
    [companyId, Array.from({ length: count.projects }, () => drawText(3))],
  );
}

async function copyTasks(client: pg.Client, companies: Iterable<number>, report: Report): Promise<void> {
  const { rows } = await client.query<{ company_id: string; ids: string[]; owner: string }>(`
    select company_id, array_agg(project_id) as ids, (select min(employee_id) from employees as e where e.company_id = p.company_id) as owner
    from projects as p group by company_id`);
  const byCompany = new Map(rows.map((row) => [Number(row.company_id), row]));
  await copyIn(
    client,
    'copy tasks (company_id, project_id, title, description, owner_id, created_at, updated_at) from stdin',
    chunks(companies, report, 'tasks', (companyId) => {
      const { ids, owner } = byCompany.get(companyId)!;
      const projectId = ids[Math.floor(random() * ids.length)];
      const description = random() < 0.5 ? drawText(25) : String.raw`\N`;
      return `${companyId}\t${projectId}\t${drawText(5)}\t${description}\t${owner}\tnow\tnow`;
    }),
  );
}

async function copyComments(client: pg.Client, companies: Iterable<number>, report: Report): Promise<void> {
  const { rows } = await client.query<{
    company_id: string;
    first: string;
    count: string;
    owner: string;
    ids: number[];
  }>(`
    select company_id, array_agg(task_id::integer order by task_id) as ids, min(owner_id) as owner from tasks group by company_id`);
  const byCompany = new Map(rows.map((row) => [Number(row.company_id), row]));
  await copyIn(
    client,
    'copy comments (company_id, task_id, sender_id, message, created_at) from stdin',
    chunks(companies, report, 'comments', (companyId) => {
      const { ids, owner } = byCompany.get(companyId)!;
      return `${companyId}\t${ids[Math.floor(random() * ids.length)]}\t${owner}\t<p>${drawText(12)}</p>\tnow`;
    }),
  );
}

function* chunks(companies: Iterable<number>, report: Report, what: string, lineOf: (companyId: number) => string) {
  let lines: string[] = [];
  let count = 0;
  for (const companyId of companies) {
    lines.push(lineOf(companyId));
    if (lines.length < linesPerChunk) continue;
    yield `${lines.join('\n')}\n`;
    count += lines.length;
    if (count % 200_000 === 0) report(`${count} ${what}`);
    lines = [];
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}

/** Drops the indexes of the large tables that no constraint has; loading without them takes a fraction of the time. */
async function dropIndexes(client: pg.Client) {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid in ('tasks'::regclass, 'comments'::regclass)
      and not exists (select from pg_constraint as c where c.conindid = indexrelid)`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return async (report: Report) => {
    await client.query("set maintenance_work_mem = '256MB'");
    for (const { name, definition } of rows) {
      const start = performance.now();
      await client.query(definition);
      report(`index ${name} in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    }
  };
}
