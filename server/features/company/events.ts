import type { z } from 'zod';
import { changeEvent, changesOf, findChanges } from '../../kernel/change-event.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { Company } from './schemas.ts';

const { company_id: companyId } = Company.shape;
const { shape: changing } = Company.pick({ name: true, timezone: true });

export const companyCreated = changeEvent('company.created', 'The company was registered.', {
  companyId,
  company: Company,
});

export const companyUpdated = changeEvent(
  'company.updated',
  'An admin has changed the name or the time zone of the company.',
  { companyId, company: Company, changes: changesOf(changing) },
);

export const companyClosed = changeEvent(
  'company.closed',
  'The owner has closed the company: it is only read until `closesAt`, and then removed.',
  { companyId, company: Company, closesAt: moment.meta({ description: 'When it is removed' }) },
);

export const companyReopened = changeEvent('company.reopened', 'The owner has taken the closing of the company back.', {
  companyId,
  company: Company,
});

type CompanyRecord = z.input<typeof Company>;

/** What differs between two states of the company. */
export const findCompanyChanges = (before: CompanyRecord, after: CompanyRecord) => findChanges(changing, before, after);
