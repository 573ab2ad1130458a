import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { selectMatches } from '../../../server/features/employees/select-matches.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { subscribe } from '../../support/plan.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const admin = await service.registerCompany({ firstName: 'Zora', email: 'boss@corp.test' });
await subscribe(service, admin, 'enterprise');
const foreigner = await service.registerCompany({ firstName: 'Ann', email: 'ann@corp.test' });

let number = 0;
async function add(name: string, details: { email?: string; designation?: string } = {}): Promise<number> {
  const [first_name, ...rest] = name.split(' ');
  const last_name = rest.join(' ');
  const email = `e${(number += 1)}@corp.test`;
  const input = { first_name, last_name, email, companyId: admin.companyId, ...details };
  const { status, body } = await admin.post('/employee/add/', input);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body._id;
}

const search = (q: string, actor: Actor = admin) =>
  actor.get(`/employees/search/${actor.companyId}/?q=${encodeURIComponent(q)}`);

async function namesFor(q: string): Promise<string[]> {
  const { status, body } = await search(q);
  expect(status).toBe(200);
  return body.employees.map((one: { name: string }) => one.name);
}

describe('a search', () => {
  test('puts the very name first, then names that begin so, words that do, other places; each by name', async () => {
    await add('Susanne Berg');
    await add('Bob Anne');
    await add('Annette Zander');
    await add('Adam Low', { designation: 'Anne of all trades' });
    await add('anne Åberg');
    await add('Änne Zett');
    await service.database.db
      .updateTable('employees')
      .set({ own_name: 'Anne', search_text: ' anne zz@corp.test', email: 'zz@corp.test' })
      .where('company_id', '=', admin.companyId)
      .where('employee_id', '=', await add('Not Yet'))
      .execute();
    const ranked = ['Anne', 'anne Åberg', 'Änne Zett', 'Annette Zander', 'Adam Low', 'Bob Anne', 'Susanne Berg'];
    expect(await namesFor('ANNÉ')).toEqual(ranked);
  });

  test('finds by address and designation, in the middle of a word from three letters on', async () => {
    await add('Quentin Mail', { email: 'unusual.box@elsewhere.test', designation: 'Xylophonist' });
    for (const q of ['usual.b', 'elsewhere', 'xylo', 'ophon', 'UNUSUAL.BOX@ELSEWHERE.TEST'])
      expect(await namesFor(q)).toEqual(['Quentin Mail']);
  });

  test('takes one and two letters as the beginning of a word', async () => {
    await add('Wu Ixby', { email: 'qqq@corp.test' });
    expect(await namesFor('wu')).toEqual(['Wu Ixby']);
    expect(await namesFor('ix')).toEqual(['Wu Ixby']);
    expect(await namesFor('w')).toEqual(['Wu Ixby']);
    expect(await namesFor('xb')).toEqual([]);
  });

  test('finds a part of a name in a script without spaces', async () => {
    await add('李小龍 Bruce');
    await add('ประยุทธ์ Chai');
    await add('김민준 Kim');
    for (const q of ['李', '小龍', '龍', '龍 李 bruce']) expect(await namesFor(q)).toEqual(['李小龍 Bruce']);
    expect(await namesFor('ยุ')).toEqual(['ประยุทธ์ Chai']);
    for (const q of ['민준', '준']) expect(await namesFor(q)).toEqual(['김민준 Kim']);
    expect(await namesFor('龍李')).toEqual([]);
  });

  test('wants every word, in any order', async () => {
    await add('Maria Keller', { designation: 'Pilot' });
    await add('Maria Brandt', { designation: 'Baker' });
    expect(await namesFor('keller maria')).toEqual(['Maria Keller']);
    expect(await namesFor('  maria   p ')).toEqual(['Maria Keller']);
    expect(await namesFor('maria brandt baker corp')).toEqual(['Maria Brandt']);
    expect(await namesFor('maria brandt baker corp pilot')).toEqual([]);
  });

  test('takes accents, case and letters that Unicode keeps whole as people type them', async () => {
    await add('Łukasz Groß');
    await add('Søren Ðorđević');
    for (const q of ['lukasz', 'ŁUKASZ', 'gross', 'GROẞ', 'groß']) expect(await namesFor(q)).toEqual(['Łukasz Groß']);
    for (const q of ['soren', 'dordevic', 'SØREN']) expect(await namesFor(q)).toEqual(['Søren Ðorđević']);
    await add('Юлия Иванова');
    for (const q of ['юлия', 'ИВАН', 'ю']) expect(await namesFor(q)).toEqual(['Юлия Иванова']);
  });

  test('takes wildcards and quotes for what they are', async () => {
    await add('Percy Cent', { designation: '100%_\\sure && more --- a-b' });
    for (const q of ['%', '_', '\\', '%%%', 'p%y', 'per_y', "'", '"; drop', 'sur\\e'])
      expect(await namesFor(q)).toEqual([]);
    for (const q of ['100%', '%_\\', '00%_\\s', '&&', '&', '---', 'a-b', '& --- %_\\ percy'])
      expect(await namesFor(q)).toEqual(['Percy Cent']);
    expect(await namesFor('\u0301')).toEqual([]);
  });

  test('finds the inactive and not the deleted, and follows what changes', async () => {
    const id = await add('Vanya Voss');
    await admin.patch(`/api/employees/${id}/`, { is_active: false, last_name: 'Vogt', designation: 'Vet' });
    expect(await namesFor('voss')).toEqual([]);
    expect(await namesFor('vogt vet')).toEqual(['Vanya Vogt']);
    await admin.patch(`/api/employees/${id}/`, { name: 'Vivi' });
    expect(await namesFor('vivi')).toEqual(['Vivi']);
    await admin.patch(`/api/employees/${id}/`, { name: null, email: 'vwxyz@corp.test' });
    expect(await namesFor('vwxyz')).toEqual(['Vanya Vogt']);
    await admin.delete(`/api/employees/${id}/`);
    expect(await namesFor('vogt')).toEqual([]);
    await admin.post(`/api/employees/${id}/restore/`);
    expect(await namesFor('vogt')).toEqual(['Vanya Vogt']);
  });

  test('answers at most 50, and hides salaries from members', async () => {
    const member = await service.addEmployee(admin, { first_name: 'Ulla', last_name: 'Uhl', salary: 1 });
    await Promise.all(Array.from({ length: 55 }, (_, i) => add(`Horde ${String(i).padStart(2, '0')}`)));
    const names = await namesFor('horde');
    expect(names).toEqual(Array.from({ length: 50 }, (_, i) => `Horde ${String(i).padStart(2, '0')}`));
    expect((await search('ulla', member)).body.employees[0].salary).toBe(1);
    expect((await search('ulla')).body.employees[0].salary).toBe(1);
    const other = await service.addEmployee(admin);
    expect((await search('ulla', other)).body.employees[0].salary).toBeNull();
  });

  test("stays in the caller's company", async () => {
    expect((await search('ann', foreigner)).body.employees.map((one: { _id: number }) => one._id)).toEqual([
      foreigner.employeeId,
    ]);
    const foreign = await admin.get(`/employees/search/${foreigner.companyId}/?q=ann`);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('wants 1 to 200 characters', async () => {
    const issue = { status: 400, code: 'VALIDATION_FAILED', issues: ['q'] };
    expect(errorOf(await admin.get(`/employees/search/${admin.companyId}/`))).toEqual(issue);
    expect(errorOf(await search(' '))).toEqual(issue);
    expect(errorOf(await search('a'.repeat(201)))).toEqual(issue);
    expect((await search('a '.repeat(100))).status).toBe(200);
  });
});

describe('the statement of a search', () => {
  test('goes through the trigram index, for one letter and for many words', async () => {
    const { db } = service.database;
    const crowded = await service.registerCompany();
    const { companyId } = crowded;
    await sql`
      with made as (
        insert into accounts (email, created_at, updated_at)
        select 'crowd' || n || '@corp.test', now(), now() from generate_series(1, 2000) n
        returning account_id, email
      )
      insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
      select ${companyId}, account_id, email, 'Crowd', md5(email), ' crowd ' || md5(email) || ' ' || email, now(), now()
      from made`.execute(db);
    await sql`analyze employees`.execute(db);
    for (const q of ['b', 'ab', 'abc', 'crowd abc', 'd e f']) {
      const plan = JSON.stringify(await selectMatches(db, companyId, q).limit(50).explain('json'));
      expect(plan).toContain('employees_by_search');
      expect(plan).not.toContain('Seq Scan');
    }
  });
});
