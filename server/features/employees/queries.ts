import type { Selectable } from 'kysely';
import type { z } from 'zod';
import { rowLoader } from '../../../db/pipeline/loader.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Settings } from '../../kernel/context.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import type { Employee } from './schemas.ts';

export type EmployeeRow = Omit<Selectable<Schema['employees']>, 'own_name' | 'search_text' | 'erased_at'>;

/** The columns of an Employee. */
const columns = [
  'company_id',
  'employee_id',
  'account_id',
  'email',
  'first_name',
  'last_name',
  'name',
  'phone',
  'designation',
  'salary',
  'is_admin',
  'is_team_leader',
  'is_active',
  'is_deleted',
  'date_of_birth',
  'date_of_joining',
  'gender',
  'country_code',
  'picture_id',
  'created_at',
  'updated_at',
] as const;

/** The employees of one company, for further conditions. */
export function selectEmployees(db: Db, companyId: number) {
  return db.selectFrom('employees').where('company_id', '=', companyId).select(columns);
}

export const findEmployee = rowLoader<EmployeeRow>('employee_id', (db, isAsked) =>
  db.selectFrom('employees').where(isAsked).select(columns).compile(),
);

export async function getEmployee(db: Db, companyId: number, employeeId: number): Promise<EmployeeRow> {
  const row = await findEmployee(db, companyId, employeeId);
  if (!row) throw NOT_FOUND();
  return row;
}

/** The names of employees, deleted ones included. */
export async function listNames(db: Db, companyId: number, employeeIds: number[]): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('employee_id', '=', eb.fn.any(eb.val(employeeIds))))
    .select(['employee_id', 'name'])
    .execute();
  return new Map(rows.map((row) => [row.employee_id, row.name]));
}

export type LockedEmployee = EmployeeRow & { own_name: string | null; erased_at: Date | null };

/** Returns an employee, locked until the transaction ends. */
export async function lockEmployee(db: Db, companyId: number, employeeId: number): Promise<LockedEmployee> {
  return selectEmployees(db, companyId)
    .where('employee_id', '=', employeeId)
    .select(['own_name', 'erased_at'])
    .forUpdate()
    .executeTakeFirstOrThrow(() => NOT_FOUND());
}

/** Those of the employees who are neither inactive nor deleted. */
export async function listActiveIds(db: Db, companyId: number, employeeIds: number[]): Promise<Set<number>> {
  const rows = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('employee_id', '=', eb.fn.any(eb.val(employeeIds))))
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .execute();
  return new Set(rows.map((row) => row.employee_id));
}

/** The active admins of a company. */
export async function listActiveAdmins(db: Db, companyId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('is_admin', '=', true)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .orderBy('employee_id')
    .execute();
  return rows.map((row) => row.employee_id);
}

/** The address at which a picture is served, to anybody who knows it. */
export function pictureUrl(
  { publicUrl }: Pick<Settings, 'publicUrl'>,
  companyId: number,
  pictureId: string | null,
): string | null {
  return pictureId === null ? null : `${publicUrl}/pictures/${companyId}/${pictureId}`;
}

/** The viewer, who decides whether a salary is visible. */
export type Viewer = { employeeId: number; isAdmin: boolean };

/** The row as the viewer may see it. */
export function toEmployee(
  row: EmployeeRow,
  viewer: Viewer,
  settings: Pick<Settings, 'publicUrl'>,
): z.input<typeof Employee> {
  const maySeeSalary = viewer.isAdmin || viewer.employeeId === row.employee_id;
  return {
    _id: row.employee_id,
    invitationStatus: row.account_id === null ? 'pending' : 'accepted',
    first_name: row.first_name,
    last_name: row.last_name,
    name: row.name,
    email: row.email,
    phone: row.phone,
    designation: row.designation,
    companyId: row.company_id,
    salary: maySeeSalary ? row.salary : null,
    isAdmin: row.is_admin,
    isTeamLeader: row.is_team_leader,
    is_active: row.is_active,
    isActive: row.is_active,
    isDeleted: row.is_deleted,
    date_of_birth: row.date_of_birth,
    date_of_joining: row.date_of_joining,
    gender: row.gender,
    country_code: row.country_code,
    profilePicture: pictureUrl(settings, row.company_id, row.picture_id),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The text that search reads, in one column: in lower case without accents, with a space before each word. */
export function searchTextOf(employee: { name: string; email: string; designation: string | null }): string {
  return ` ${foldForSearch(`${employee.name} ${employee.email} ${employee.designation ?? ''}`)}`;
}

/** Letters that Unicode does not decompose, as people type them without these keys. */
const plainLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

export function foldForSearch(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[ßæœøłđðþı]/g, (letter) => plainLetters[letter]!)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

export type NewEmployee = {
  companyId: number;
  /** Null for an invited employee. */
  accountId: number | null;
  email: string;
  firstName: string;
  lastName: string;
  phone?: string | null;
  designation?: string | null;
  salary?: number | null;
  isAdmin?: boolean;
  now: Date;
};

/** Inserts an employee and the counter of their unread notifications. */
export async function insertEmployee(db: Db, employee: NewEmployee): Promise<number> {
  const { companyId, firstName, lastName, now, designation = null } = employee;
  const { employee_id: employeeId } = await db
    .insertInto('employees')
    .values({
      company_id: companyId,
      account_id: employee.accountId,
      email: employee.email,
      first_name: firstName,
      last_name: lastName,
      phone: employee.phone ?? null,
      designation,
      salary: employee.salary ?? null,
      is_admin: employee.isAdmin ?? false,
      search_text: searchTextOf({ name: `${firstName} ${lastName}`.trim(), email: employee.email, designation }),
      created_at: now,
      updated_at: now,
    })
    .returning('employee_id')
    .executeTakeFirstOrThrow();
  await db.insertInto('notification_counts').values({ company_id: companyId, employee_id: employeeId }).execute();
  return employeeId;
}
