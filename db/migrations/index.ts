import type { Migration } from 'kysely/migration';
import * as accounts from './0001-accounts.ts';
import * as companies from './0002-companies.ts';
import * as work from './0003-work.ts';
import * as talk from './0004-talk.ts';
import * as delivery from './0005-delivery.ts';
import * as days from './0006-days.ts';
import * as figures from './0007-figures.ts';
import * as deliveryLanes from './0008-delivery-lanes.ts';
import * as companyCounts from './0009-company-counts.ts';
import * as notificationTallies from './0010-notification-tallies.ts';
import * as narrowedLists from './0011-narrowed-lists.ts';
import * as ownerCounts from './0012-owner-counts.ts';
import * as memberships from './0013-memberships.ts';
import * as credentials from './0014-credentials.ts';
import * as notificationOrder from './0016-notification-order.ts';
import * as codeNetworks from './0017-code-networks.ts';
import * as mornings from './0018-mornings.ts';
import * as notificationMails from './0019-notification-mails.ts';
import * as derivedData from './0020-derived-data.ts';
import * as jobs from './0021-jobs.ts';
import * as sweepRounds from './0022-sweep-rounds.ts';
import * as jobsByCompany from './0023-jobs-by-company.ts';
import * as companyDayShards from './0024-company-day-shards.ts';
import * as webhooks from './0025-webhooks.ts';
import * as auditLog from './0026-audit-log.ts';
import * as timePeriods from './0027-time-periods.ts';
import * as workingHours from './0028-working-hours.ts';
import * as rates from './0029-rates.ts';
import * as exports from './0030-exports.ts';
import * as erasure from './0031-erasure.ts';
import * as csvImports from './0032-csv-imports.ts';
import * as apiKeyExpiry from './0033-api-key-expiry.ts';
import * as search from './0034-search.ts';
import * as oauth from './0035-oauth.ts';
import * as taskTitles from './0036-task-titles.ts';
import * as plannedTerms from './0037-planned-terms.ts';
import * as mentionMails from './0038-mention-mails.ts';
import * as lockedManualAdd from './0039-locked-manual-add.ts';
import * as importedProjects from './0040-imported-projects.ts';
import * as searchSteps from './0041-search-steps.ts';
import * as rareTitles from './0042-rare-titles.ts';
import * as invitationMails from './0043-invitation-mails.ts';

/** Append-only: what has been released is never edited, only followed by a further number. */
export const migrations: Record<string, Migration> = {
  '0001-accounts': accounts,
  '0002-companies': companies,
  '0003-work': work,
  '0004-talk': talk,
  '0005-delivery': delivery,
  '0006-days': days,
  '0007-figures': figures,
  '0008-delivery-lanes': deliveryLanes,
  '0009-company-counts': companyCounts,
  '0010-notification-tallies': notificationTallies,
  '0011-narrowed-lists': narrowedLists,
  '0012-owner-counts': ownerCounts,
  '0013-memberships': memberships,
  '0014-credentials': credentials,
  '0016-notification-order': notificationOrder,
  '0017-code-networks': codeNetworks,
  '0018-mornings': mornings,
  '0019-notification-mails': notificationMails,
  '0020-derived-data': derivedData,
  '0021-jobs': jobs,
  '0022-sweep-rounds': sweepRounds,
  '0023-jobs-by-company': jobsByCompany,
  '0024-company-day-shards': companyDayShards,
  '0025-webhooks': webhooks,
  '0026-audit-log': auditLog,
  '0027-time-periods': timePeriods,
  '0028-working-hours': workingHours,
  '0029-rates': rates,
  '0030-exports': exports,
  '0031-erasure': erasure,
  '0032-csv-imports': csvImports,
  '0033-api-key-expiry': apiKeyExpiry,
  '0034-search': search,
  '0035-oauth': oauth,
  '0036-task-titles': taskTitles,
  '0037-planned-terms': plannedTerms,
  '0038-mention-mails': mentionMails,
  '0039-locked-manual-add': lockedManualAdd,
  '0040-imported-projects': importedProjects,
  '0041-search-steps': searchSteps,
  '0042-rare-titles': rareTitles,
  '0043-invitation-mails': invitationMails,
};
