import type { Db } from './transaction.ts';

/*
 * Row-level security, the second wall between companies; the first is the `company_id` in each query. Its invariants:
 *
 * - A statement runs in a scope: one company, all companies, or neither. A handle has a scope and passes it on.
 * - A scope is a role and `app.company_id`, set only for the transaction in which the statement runs: an explicit one,
 *   or the implicit one of a single statement (`set_config(…, true)` precedes it, before the same Sync). So nothing
 *   outlives the statement, even after an error, and companies and poolers can share a connection.
 * - The policies (row-security.ts) show the role `wms_company` the rows of `app.company_id`, and none if it is not set.
 * - The role `wms_across_companies` sees all rows. Each use of it is written as `acrossCompanies`.
 * - With row-level security off, no handle has a scope and nothing is sent for it. Migrations and maintenance have none
 *   either: `database.owner`.
 */

/** For whom a statement runs. */
export type Scope = {
  readonly role: string;
  /** The company's identifier; empty for none. */
  readonly company: string;
  /**
   * The suffix of the scope's statement names: a change of role would make PostgreSQL plan a prepared statement again.
   */
  readonly mark: string;
};

export const companyRole = 'wms_company';
export const acrossRole = 'wms_across_companies';

/** Sees rows of no company. */
export const outsideCompanies: Scope = { role: companyRole, company: '', mark: '' };
export const allCompanies: Scope = { role: acrossRole, company: '', mark: '+' };

export function oneCompany(companyId: number): Scope {
  // The number becomes part of a statement's text.
  if (!Number.isSafeInteger(companyId)) throw new TypeError(`${companyId} is no company's identifier`);
  return { role: companyRole, company: String(companyId), mark: '' };
}

/** Sets a scope until the end of the transaction, by its role and its company. */
export const setScope = "select set_config('role', $1, true), set_config('app.company_id', $2, true)";

type Scoped = {
  /** The handle of the whole transaction, which this one shows in another scope. */
  root: Db;
  /** The same transaction, or the same connections, in another scope. */
  within(scope: Scope): Db;
};

/** Handles that have a scope. */
const scoped = new WeakMap<Db, Scoped>();

export function noteScope<Handle extends Db>(handle: Handle, parts: Scoped): Handle {
  scoped.set(handle, parts);
  return handle;
}

/** The same handle for rows of any company. Each use states why its rows are not those of one company. */
export const acrossCompanies = (db: Db): Db => scoped.get(db)?.within(allCompanies) ?? db;

/** The same handle for one company, if the company becomes known inside the transaction. */
export const inCompany = (db: Db, companyId: number): Db => scoped.get(db)?.within(oneCompany(companyId)) ?? db;

/** The key that all scopes of one transaction share. */
export const transactionOf = (db: Db): Db => scoped.get(db)?.root ?? db;
