import { expect, test } from 'vitest';
import { recordEvent } from '../../server/kernel/append-event.ts';
import { notAudited } from '../../server/kernel/audit.ts';
import { commitWithEvents, inTransaction } from '../../server/kernel/in-transaction.ts';
import { startService } from '../support/service.ts';

/*
 * Events that are recorded are written with the commit of their transaction, and with nothing else.
 */

const service = await startService();
const { database } = service;
const { services } = service.app;
const { companyId } = await service.registerCompany();
const { companyId: otherCompanyId } = await service.registerCompany({ name: 'Difference Engines' });
const at = new Date('2026-03-01T09:00:00Z');

const event = (stream: string, step: number, company = companyId) => ({
  companyId: company,
  stream,
  type: 'test.happened',
  payload: { step },
  at,
});

const stored = (stream: string, company = companyId) =>
  database.db
    .selectFrom('events')
    .where('company_id', '=', company)
    .where('stream', '=', stream)
    .select(['sequence', 'payload'])
    .orderBy('sequence')
    .execute();

test('recorded events are written with the commit, numbered in the order of the calls in each stream', async () => {
  await inTransaction(services, companyId, async (db) => {
    recordEvent(db, event('test 2', 1));
    recordEvent(db, event('test 1', 2));
    recordEvent(db, event('test 2', 3));
    const before = await db.selectFrom('events').where('stream', '=', 'test 2').select('sequence').execute();
    expect(before).toEqual([]);
  });
  expect(await stored('test 1')).toEqual([{ sequence: 1, payload: { step: 2 } }]);
  expect(await stored('test 2')).toEqual([
    { sequence: 1, payload: { step: 1 } },
    { sequence: 2, payload: { step: 3 } },
  ]);
});

test('a transaction that fails writes none, and leaves none to the next one', async () => {
  const failing = inTransaction(services, companyId, async (db) => {
    recordEvent(db, event('test 3', 1));
    await db.selectFrom('employees').select('employee_id').limit(1).execute();
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  await inTransaction(services, companyId, async (db) => recordEvent(db, event('test 3', 2)));
  expect(await stored('test 3')).toEqual([{ sequence: 1, payload: { step: 2 } }]);
});

test('one transaction may record events of several companies, each in its own', async () => {
  await inTransaction(services, 'all companies', async (db) => {
    recordEvent(db, event('test 4', 1));
    recordEvent(db, event('test 4', 2, otherCompanyId));
    recordEvent(db, event('test 4', 3));
  });
  expect(await stored('test 4')).toMatchObject([{ payload: { step: 1 } }, { payload: { step: 3 } }]);
  expect(await stored('test 4', otherCompanyId)).toMatchObject([{ sequence: 1, payload: { step: 2 } }]);
});

test('an event recorded behind the last statements is refused, and not lost in silence', async () => {
  const transaction = database.forCompany(companyId).begin();
  await transaction.commitBehind([() => transaction.db.selectFrom('companies').select('name').execute()]);
  recordEvent(transaction.db, event('test 5', 1));
  await expect(commitWithEvents(transaction, notAudited)).rejects.toThrow('the transaction has ended');
  expect(await stored('test 5')).toEqual([]);
});
