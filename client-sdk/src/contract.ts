// Made by `npm run generate` from the definitions of the operations; do not edit.
import type { Call, CallOptions, Download, EventStream, Page, Paged, StreamOptions, Upload, WriteOptions } from './call-types.ts';

export interface AuthLoginInput {
  /** E-mail address, compared without regard to case */
  email: string;
  password: string;
  /** The company to sign in to, where the account has several */
  company_id?: number;
}

export interface SignedInResult {
  /** JWT; send it as `Authorization: Bearer …` */
  access_token: string;
  /** JWT; send it as `X-Refresh-Token` with the access token */
  refresh_token: string;
  token_type: 'Bearer';
  /** Seconds until the access token expires */
  expires_in: number;
  employee: Employee | null;
  company: { company_id: number; company_name: string } | null;
}

export interface Employee {
  _id: number;
  /** Whether the owner of the address has joined an account to this employee */
  invitationStatus: 'pending' | 'accepted';
  first_name: string;
  last_name: string;
  /** "first last" unless set by itself */
  name: string;
  email: string;
  phone: string | null;
  /** Job title */
  designation: string | null;
  companyId: number;
  /** Visible to admins and to the employee themself; null to others */
  salary: number | null;
  isAdmin: boolean;
  isTeamLeader: boolean;
  /** Always equal to isActive */
  is_active: boolean;
  isActive: boolean;
  isDeleted: boolean;
  /** YYYY-MM-DD */
  date_of_birth: string | null;
  /** YYYY-MM-DD */
  date_of_joining: string | null;
  gender: string | null;
  country_code: string | null;
  /** URL of the picture */
  profilePicture: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

export interface CompanyChoice {
  companies: { company_id: number; company_name: string; isAdmin: boolean }[];
  /** Proof for POST /token-login/, single use */
  login_ticket: string;
  /** Seconds until the ticket expires */
  expires_in: number;
}

export interface AuthGoogleLoginInput {
  /** Google identity token */
  token: string;
  /** E-mail address, compared without regard to case */
  email?: string | null;
  /** Accepted and not used: an account has no name before its first company */
  name?: string | null;
  /** Accepted and not used */
  picture?: string | null;
  /** The nonce that the token was asked for with: the token must carry it, or its SHA-256 as hex */
  nonce?: string | null;
  /** The company to sign in to, where the account has several */
  company_id?: number;
}

export interface AuthAppleLoginInput {
  /** Apple identity token */
  token: string;
  /** E-mail address, compared without regard to case */
  email?: string | null;
  /** Accepted and not used: an account has no name before its first company */
  name?: string | null;
  /** The nonce that the token was asked for with: the token must carry it, or its SHA-256 as hex */
  nonce?: string | null;
  /** The company to sign in to, where the account has several */
  company_id?: number;
}

export interface AuthVerifyEmailInput {
  /** E-mail address, compared without regard to case */
  email: string;
}

export interface AuthOtpLoginInput {
  /** E-mail address, compared without regard to case */
  email: string;
  otp: string;
  /** The company to sign in to, where the account has several */
  company_id?: number;
}

export interface AuthTokenLoginInput {
  /** E-mail address, compared without regard to case */
  email: string;
  company_id: number;
  company_name?: string | null;
  isAdmin?: boolean | null;
}

export interface AuthRefreshAnswer {
  /** JWT; send it as `Authorization: Bearer …` */
  access_token: string;
  /** JWT; send it as `X-Refresh-Token` with the access token */
  refresh_token: string;
  token_type: 'Bearer';
  /** Seconds until the access token expires */
  expires_in: number;
}

export interface RegistrationRequestCodeInput {
  /** E-mail address, compared without regard to case */
  email: string;
}

export interface RegistrationRegisterCompanyInput {
  company_name: string;
  /** E-mail address, compared without regard to case */
  email: string;
  otp: string;
  first_name: string;
  last_name: string;
  referral_code?: string | null;
  appleUserId?: string | null;
}

export interface RegistrationResult {
  /** JWT; send it as `Authorization: Bearer …` */
  access_token: string;
  /** JWT; send it as `X-Refresh-Token` with the access token */
  refresh_token: string;
  token_type: 'Bearer';
  /** Seconds until the access token expires */
  expires_in: number;
  employee: Employee | null;
  company: { company_id: number; company_name: string } | null;
  subscription: Subscription;
}

export interface Subscription {
  _id: number;
  /** Code of the plan */
  plan: string;
  status: 'trialing' | 'active' | 'past_due' | 'cancelled' | 'expired';
  /** UTC with milliseconds */
  startsAt: string;
  /** UTC with milliseconds */
  endsAt: string | null;
  trial: boolean;
}

export interface PasswordsRequestResetInput {
  /** E-mail address, compared without regard to case */
  email: string;
}

export interface PasswordsResetInput {
  token: string;
  /**
   * At least 8 characters, none of the most common passwords, not the address, not one character
   * repeated; no other rules
   */
  new_password: string;
  confirm_password: string;
}

export interface PasswordsChangeInput {
  employee_id?: number;
  current_password: string;
  /**
   * At least 8 characters, none of the most common passwords, not the address, not one character
   * repeated; no other rules
   */
  new_password: string;
  confirm_password: string;
  /** Ends the API keys that the account made, in every company */
  revoke_api_keys?: boolean;
}

export interface Session {
  _id: number;
  /**
   * How the person proved who they are: `password`, `code`, `google`, `apple`, `registration`,
   * `invitation`, `token` (a company was chosen, or changed to) or `api key`
   */
  method: string;
  /** The User-Agent at sign-in */
  device: string | null;
  /** Address at sign-in, IPv6 by its /64 */
  network: string | null;
  company_id: number | null;
  isCurrent: boolean;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  lastUsedAt: string;
  /** UTC with milliseconds */
  expiresAt: string;
}

/**
 * What a key may do: an area and `read` (GET operations and subscriptions) or `write` (the others), as
 * each operation says. `read` and `write` hold all areas, with the admin rights of the key’s maker;
 * `admin` gives a key of single areas these rights there; `login` signs employees in through POST
 * /token-login/
 */
export type ApiKeyScope =
  'read' | 'write' | 'time:read' | 'time:write' | 'tasks:read' | 'tasks:write' | 'projects:read' | 'projects:write' | 'comments:read' | 'comments:write' | 'notifications:read' | 'notifications:write' | 'people:read' | 'people:write' | 'company:read' | 'company:write' | 'admin' | 'login';

export interface ApiKeysCreateInput {
  name: string;
  scopes: ApiKeyScope[];
  /** ISO 8601 with any offset */
  expiresAt?: string | null;
}

export interface NewApiKey {
  _id: number;
  name: string;
  /** The first characters of the key, to tell it from others */
  start: string;
  scopes: ApiKeyScope[];
  /** UTC with milliseconds */
  expiresAt: string | null;
  /** To the minute; null if it was never used */
  lastUsedAt: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** The OAuth client that holds and renews the key; null if a person made it for a script */
  client: {
    /** As the client calls itself in requests */
    client_id: string;
    name: string;
  } | null;
  /** Send it as `Authorization: Bearer …`, alone */
  key: string;
}

export interface ApiKey {
  _id: number;
  name: string;
  /** The first characters of the key, to tell it from others */
  start: string;
  scopes: ApiKeyScope[];
  /** UTC with milliseconds */
  expiresAt: string | null;
  /** To the minute; null if it was never used */
  lastUsedAt: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** The OAuth client that holds and renews the key; null if a person made it for a script */
  client: {
    /** As the client calls itself in requests */
    client_id: string;
    name: string;
  } | null;
}

export interface CurrentApiKey {
  key: ApiKey;
  employee: KeyHolder;
  company: KeyCompany;
}

/** The employee as whom the key acts */
export interface KeyHolder {
  _id: number;
  /** "first last" unless set by itself */
  name: string;
  email: string;
  isAdmin: boolean;
  isTeamLeader: boolean;
}

/** The company of a key */
export interface KeyCompany {
  company_id: number;
  name: string;
  /** IANA time zone name */
  timezone: string;
  /** When the company is removed, because its owner has closed it; null if it is open */
  closesAt: string | null;
}

export interface OauthAuthorizeClientInput {
  /** The OAuth client that asks */
  client_id: string;
  /** One that the client has registered */
  redirect_uri: string;
  /** Of the code verifier (PKCE, RFC 7636) */
  code_challenge: string;
  /** How the challenge was made: there is one way */
  code_challenge_method: 'S256';
  /** What the person lets the client do */
  scopes: ApiKeyScope[];
  /** Goes back to the client as it is */
  state?: string | null;
}

export interface OauthAuthorizeClientAnswer {
  /** With `code`, `state` and `iss` */
  redirect_to: string;
}

export interface Company {
  company_id: number;
  name: string;
  /** IANA time zone name */
  timezone: string;
  owner_id: number | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

export interface Payment {
  _id: number;
  amount: number;
  /** ISO 4217 */
  currency: string;
  status: 'pending' | 'paid' | 'failed' | 'refunded';
  /** UTC with milliseconds */
  paidAt: string;
}

export interface Plan {
  _id: number;
  code: string;
  name: string;
  pricePerMonth: number;
  /** ISO 4217 */
  currency: string;
  /** null is without limit */
  maxEmployees: number | null;
  storageBytes: number;
  /** What taking this plan would be; without an active subscription each one is an upgrade */
  change: 'current' | 'upgrade' | 'downgrade';
}

export interface CompanyGetAnswer {
  company: Company;
  latestPayment: Payment | null;
  subscriptions: Subscription[];
  plans: Plan[];
  /** When the company is removed, because its owner has closed it; null if it is open */
  closesAt: string | null;
}

export interface CompanyUpdateInput {
  company_id?: number;
  name?: string;
  /** IANA time zone name, in the letter case of IANA */
  timezone?: string;
}

export interface CompanyCloseAnswer {
  company_id: number;
  /** UTC with milliseconds */
  closesAt: string;
  /** What can be done until then, in a sentence */
  offer: string;
}

export interface EmployeesCreateInput {
  first_name: string;
  last_name: string;
  /** E-mail address, compared without regard to case */
  email: string;
  companyId?: number;
  phone?: string | null;
  /** Job title */
  designation?: string | null;
  /** Rounded half up to two decimals */
  salary?: number | null;
}

export interface EmployeesListActiveAnswer {
  employees: Employee[];
  deletedEmployees: { _id: number; name: string }[];
}

export interface EmployeesUpdateInput {
  first_name?: string;
  last_name?: string;
  /** Full name; null brings back "first last" */
  name?: string | null;
  phone?: string | null;
  /** YYYY-MM-DD */
  date_of_birth?: string | null;
  /** YYYY-MM-DD */
  date_of_joining?: string | null;
  gender?: string | null;
  country_code?: string | null;
  /** E-mail address, compared without regard to case */
  email?: string;
  /** Job title */
  designation?: string | null;
  /** Rounded half up to two decimals */
  salary?: number | null;
  isAdmin?: boolean;
  isTeamLeader?: boolean;
  is_active?: boolean;
  _id: number;
}

export interface EmployeeSession {
  _id: number;
  /**
   * How the person proved who they are: `password`, `code`, `google`, `apple`, `registration`,
   * `invitation`, `token` (a company was chosen, or changed to) or `api key`
   */
  method: string;
  /** The User-Agent at sign-in */
  device: string | null;
  /** Address at sign-in, IPv6 by its /64 */
  network: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  lastUsedAt: string;
  /** UTC with milliseconds */
  expiresAt: string;
}

export interface EmployeesGetAccessAnswer {
  /** The sessions, the newest first */
  sessions: EmployeeSession[];
  keys: ApiKey[];
}

export interface Invitation {
  _id: number;
  company_id: number;
  company_name: string;
  /** The name of the admin who invited */
  invitedBy: string | null;
  /** UTC with milliseconds */
  createdAt: string;
}

export interface InvitationsAcceptInput {
  invitation_id: number;
  /** From the link of the invitation mail */
  token?: string | null;
}

export interface ProjectsCreateInput {
  name: string;
  description?: string | null;
  /** Rounded half up to two decimals; null is without limit */
  allocatedHours?: number | null;
  /** An active employee of the company */
  owner_id?: number;
  /** Whether new logs are charged, unless they say otherwise */
  billable?: boolean;
  /**
   * What its logs may amount to, set by admins; amounts in other currencies do not count. null is
   * without limit
   */
  budget?: {
    /** In minor units of the currency: 9550 EUR are 95.50 €, 9550 JPY are 9,550 ¥ */
    minorUnits: number;
    /** Code of ISO 4217 */
    currency: string;
  } | null;
}

export interface Project {
  _id: number;
  name: string;
  description: string | null;
  companyId: number;
  owner_id: number;
  /** null is without limit */
  allocatedHours: number | null;
  /** Hours logged on its tasks, to two decimals */
  loggedHours: number;
  /** Whether new logs are charged, unless they say otherwise */
  billable: boolean;
  /** What its logs may amount to, for admins; null for others and without limit */
  budget: Money | null;
  /** What its logs amount to in each currency, for admins; null for others */
  amounts: Money[] | null;
  status: 'active' | 'on_hold' | 'completed' | 'archived';
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

export interface Money {
  /** In minor units of the currency: 9550 EUR are 95.50 €, 9550 JPY are 9,550 ¥ */
  minorUnits: number;
  /** Code of ISO 4217 */
  currency: string;
}

export interface ProjectsListInput {
  company_id?: number;
  status?: 'active' | 'on_hold' | 'completed' | 'archived';
  q?: string;
  /** Page number, from 1; a page past the end is empty; `1` unless sent */
  page?: number;
}

export interface ProjectsUpdateInput {
  name?: string;
  description?: string | null;
  /** Rounded half up to two decimals; null is without limit */
  allocatedHours?: number | null;
  /** An active employee of the company */
  owner_id?: number;
  /** Whether new logs are charged, unless they say otherwise */
  billable?: boolean;
  /**
   * What its logs may amount to, set by admins; amounts in other currencies do not count. null is
   * without limit
   */
  budget?: {
    /** In minor units of the currency: 9550 EUR are 95.50 €, 9550 JPY are 9,550 ¥ */
    minorUnits: number;
    /** Code of ISO 4217 */
    currency: string;
  } | null;
  project_id: number;
  status?: 'active' | 'on_hold' | 'completed' | 'archived';
}

export interface ProjectsOnCompanyInput {
  /**
   * The id of the last event that the caller has; what came after it is sent first. Without it the
   * subscription begins with what happens from now on; `now` does the same and says first where that is.
   */
  lastEventId?: string | null;
}

/** Somebody has started a project. */
export interface ProjectCreated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'project.created';
  /** When it happened */
  at: string;
  projectId: number;
  project: ProjectHeader;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/** A project without its logged hours and money */
export interface ProjectHeader {
  _id: number;
  name: string;
  description: string | null;
  companyId: number;
  owner_id: number;
  /** null is without limit */
  allocatedHours: number | null;
  /** Whether new logs are charged, unless they say otherwise */
  billable: boolean;
  status: 'active' | 'on_hold' | 'completed' | 'archived';
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

/** Somebody has changed a project. */
export interface ProjectUpdated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'project.updated';
  /** When it happened */
  at: string;
  projectId: number;
  project: ProjectHeader;
  /** The fields that have changed, and no others */
  changes: {
    name?: { before: string; after: string };
    description?: { before: string | null; after: string | null };
    owner_id?: { before: number; after: number };
    allocatedHours?: {
      /** null is without limit */
      before: number | null;
      /** null is without limit */
      after: number | null;
    };
    billable?: {
      /** Whether new logs are charged, unless they say otherwise */
      before: boolean;
      /** Whether new logs are charged, unless they say otherwise */
      after: boolean;
    };
    status?: {
      before: 'active' | 'on_hold' | 'completed' | 'archived';
      after: 'active' | 'on_hold' | 'completed' | 'archived';
    };
  };
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/**
 * Somebody has deleted a project: `project` is what it was. Its tasks and their logs are not found
 * from then on, without an event for each.
 */
export interface ProjectDeleted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'project.deleted';
  /** When it happened */
  at: string;
  projectId: number;
  project: ProjectHeader;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/** What was missed is no longer kept: read the list again. */
export interface StreamReset {
  /** The number of the latest event of the stream */
  id: number;
  type: 'stream.reset';
  /** UTC with milliseconds */
  at: string;
}

export type ProjectsOnCompanyEvent =
  ProjectCreated | ProjectUpdated | ProjectDeleted | StreamReset;

export interface TasksCreateInput {
  /** A project of the company */
  projectId: number;
  title: string;
  description?: string | null;
  /** An active employee of the company */
  owner_id?: number;
  /** Active employees of the company; one who is named twice counts once */
  collaboratorIds?: number[];
  /** `todo` unless sent */
  status?: 'todo' | 'in_progress' | 'in_review' | 'done';
  /** YYYY-MM-DD */
  dueDate?: string | null;
  /** Rounded half up to two decimals */
  estimatedHours?: number | null;
}

export interface Task {
  _id: number;
  projectId: number;
  title: string;
  description: string | null;
  status: 'todo' | 'in_progress' | 'in_review' | 'done';
  owner_id: number;
  /** By name, as people sort */
  collaborators: { _id: number; name: string }[];
  /** YYYY-MM-DD */
  dueDate: string | null;
  estimatedHours: number | null;
  /** When its status became done; null while it is not */
  completedAt: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

export interface TasksListInput {
  company_id?: number;
  projectId?: number;
  status?: 'todo' | 'in_progress' | 'in_review' | 'done';
  owner_id?: number;
  q?: string;
  /** Tasks due on this day or before it that are not done */
  dueBy?: string;
  /** Page number, from 1; a page past the end is empty; `1` unless sent */
  page?: number;
  /** The `nextCursor` of the page before */
  cursor?: string;
}

export interface TasksListAnswer {
  results: Task[];
  page: number;
  pageSize: number;
  /** How many there are on all pages */
  total: number;
  totalPages: number;
  /** Whether there are more than `total` matches of `q` or `dueBy`, of which 1000 are counted */
  isTotalCapped: boolean;
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

export interface TasksUpdateInput {
  /** A project of the company */
  projectId?: number;
  title?: string;
  description?: string | null;
  /** An active employee of the company */
  owner_id?: number;
  /** Active employees of the company; one who is named twice counts once */
  collaboratorIds?: number[];
  status?: 'todo' | 'in_progress' | 'in_review' | 'done';
  /** YYYY-MM-DD */
  dueDate?: string | null;
  /** Rounded half up to two decimals */
  estimatedHours?: number | null;
  task_id: number;
}

export interface TasksOnProjectInput {
  projectId: number;
  /**
   * The id of the last event that the caller has; what came after it is sent first. Without it the
   * subscription begins with what happens from now on; `now` does the same and says first where that is.
   */
  lastEventId?: string | null;
}

/** Somebody has added a task. */
export interface TaskCreated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task.created';
  /** When it happened */
  at: string;
  taskId: number;
  task: Task;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/**
 * Somebody has changed a task. One that moves to another project is sent to both, and takes its logs
 * along without an event for each.
 */
export interface TaskUpdated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task.updated';
  /** When it happened */
  at: string;
  taskId: number;
  task: Task;
  /** The fields that have changed, and no others */
  changes: {
    projectId?: { before: number; after: number };
    title?: { before: string; after: string };
    description?: { before: string | null; after: string | null };
    status?: {
      before: 'todo' | 'in_progress' | 'in_review' | 'done';
      after: 'todo' | 'in_progress' | 'in_review' | 'done';
    };
    owner_id?: { before: number; after: number };
    dueDate?: {
      /** YYYY-MM-DD */
      before: string | null;
      /** YYYY-MM-DD */
      after: string | null;
    };
    estimatedHours?: { before: number | null; after: number | null };
    completedAt?: {
      /** When its status became done; null while it is not */
      before: string | null;
      /** When its status became done; null while it is not */
      after: string | null;
    };
    collaboratorIds?: { before: number[]; after: number[] };
  };
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/**
 * Somebody has deleted a task: `task` is what it was. Its logs are not found from then on, without an
 * event for each.
 */
export interface TaskDeleted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task.deleted';
  /** When it happened */
  at: string;
  taskId: number;
  task: Task;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/** Time was logged on a task. */
export interface Task_logCreated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task_log.created';
  /** When it happened */
  at: string;
  taskLogId: number;
  taskLog: TaskLog;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

export interface TaskLog {
  _id: number;
  taskId: number;
  /** The employee whose time it is */
  userId: number;
  projectId: number;
  /** UTC with milliseconds */
  startTime: string;
  /** UTC with milliseconds */
  endTime: string;
  /** From start to end, rounded to the second */
  durationSeconds: number;
  description: string | null;
  /** Entered or changed by hand, not taken by a timer */
  manualAdd: boolean;
  /** Whether it is charged; a new log takes this from its project */
  billable: boolean;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

/** Somebody has changed a task log. One that moves to another project is sent to both. */
export interface Task_logUpdated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task_log.updated';
  /** When it happened */
  at: string;
  taskLogId: number;
  taskLog: TaskLog;
  /** The fields that have changed, and no others */
  changes: {
    taskId?: { before: number; after: number };
    userId?: {
      /** The employee whose time it is */
      before: number;
      /** The employee whose time it is */
      after: number;
    };
    projectId?: { before: number; after: number };
    startTime?: {
      /** UTC with milliseconds */
      before: string;
      /** UTC with milliseconds */
      after: string;
    };
    endTime?: {
      /** UTC with milliseconds */
      before: string;
      /** UTC with milliseconds */
      after: string;
    };
    durationSeconds?: {
      /** From start to end, rounded to the second */
      before: number;
      /** From start to end, rounded to the second */
      after: number;
    };
    description?: { before: string | null; after: string | null };
    manualAdd?: {
      /** Entered or changed by hand, not taken by a timer */
      before: boolean;
      /** Entered or changed by hand, not taken by a timer */
      after: boolean;
    };
    billable?: {
      /** Whether it is charged; a new log takes this from its project */
      before: boolean;
      /** Whether it is charged; a new log takes this from its project */
      after: boolean;
    };
  };
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/** Somebody has deleted a task log: `taskLog` is what it was. */
export interface Task_logDeleted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'task_log.deleted';
  /** When it happened */
  at: string;
  taskLogId: number;
  taskLog: TaskLog;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/** Tasks and time of a project were imported from a file, without an event for each: read them again. */
export interface ProjectImported {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'project.imported';
  /** When it happened */
  at: string;
  projectId: number;
  /** What has exported the file */
  source: string;
  /** How many tasks are new */
  tasks: number;
  /** How many task logs are new */
  taskLogs: number;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

export type TasksOnProjectEvent =
  TaskCreated | TaskUpdated | TaskDeleted | Task_logCreated | Task_logUpdated | Task_logDeleted | ProjectImported | ProjectDeleted | StreamReset;

export interface TaskLogsCreateInput {
  task_id: number;
  employee_id?: number;
  /** ISO 8601 with any offset */
  start_time: string;
  /** ISO 8601 with any offset */
  end_time: string;
  description?: string | null;
  /** Whether it is charged; that of the project without it */
  billable?: boolean;
  /** true changes locked days too, for admins, with a `reason` */
  override?: boolean;
  /** Why locked days are changed: kept in the audit log */
  reason?: string;
}

export interface ChargedTaskLog {
  _id: number;
  taskId: number;
  /** The employee whose time it is */
  userId: number;
  projectId: number;
  /** UTC with milliseconds */
  startTime: string;
  /** UTC with milliseconds */
  endTime: string;
  /** From start to end, rounded to the second */
  durationSeconds: number;
  description: string | null;
  /** Entered or changed by hand, not taken by a timer */
  manualAdd: boolean;
  /** Whether it is charged; a new log takes this from its project */
  billable: boolean;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
  /** For admins; null for others, without a rate, and where the log is not billable */
  charge: {
    /** The rate that was stored with the log */
    hourlyRate: Money;
    /** The seconds of the log by its rate, rounded once, half up */
    amount: Money;
  } | null;
}

export interface TaskLogsBulkCreateInput {
  user_id: number;
  entries: {
    taskId: number;
    /** The employee of the path */
    userId: number;
    /** ISO 8601 with any offset */
    startTime: string;
    /** ISO 8601 with any offset */
    endTime: string;
    description?: string | null;
    /** Whether it is charged; that of the project without it */
    billable?: boolean;
    /** Entered by hand, not taken by a timer; `true` unless sent */
    manualAdd?: boolean;
  }[];
}

export interface TaskLogsBulkCreateAnswer {
  created: ChargedTaskLog[];
  skipped: {
    index: number;
    taskId: number;
    userId: number;
    /** UTC with milliseconds */
    startTime: string;
    reason: 'duplicate';
  }[];
  days: {
    /** YYYY-MM-DD */
    date: string;
    workingHours: number;
  }[];
  exceededProjects: { projectId: number; allocatedHours: number; loggedHours: number }[];
}

export interface TaskLogsUpdateInput {
  taskLogId: number;
  /** ISO 8601 with any offset */
  startTime?: string;
  /** ISO 8601 with any offset */
  endTime?: string;
  description?: string | null;
  /** Whether it is charged */
  billable?: boolean;
  taskId?: number;
  userId?: number;
  /** true changes locked days too, for admins, with a `reason` */
  override?: boolean;
  /** Why locked days are changed: kept in the audit log */
  reason?: string;
}

export interface TaskLogsDeleteInput {
  pk: number;
  /** true changes locked days too, for admins, with a `reason` */
  override?: boolean;
  /** Why locked days are changed: kept in the audit log */
  reason?: string;
}

export interface CsvImportsRunInput {
  /** What has exported the file */
  source: 'toggl' | 'clockify' | 'jira' | 'trello';
  /** The text of the file, as it was exported */
  csv: string;
  /** The IANA time zone of the times in the file: that of the person who has exported it */
  time_zone: string;
  /** The order of day, month and year in the dates of the file; a date that contradicts it is an error */
  date_order: 'DMY' | 'MDY' | 'YMD';
  /**
   * Employees by what the file calls them, where that is neither their address nor their name; at most
   * 1,000; `{}` unless sent
   */
  people?: {  };
  /**
   * Projects by the names that they have in the file, where they are called otherwise or several have
   * the name; at most 1,000; `{}` unless sent
   */
  projects?: {  };
  /**
   * The status that a status of Jira or a list of Trello stands for, beside the usual ones; at most
   * 1,000; `{}` unless sent
   */
  statuses?: {  };
  /** Whether to leave out rows with errors and import the others; `false` unless sent */
  skip_errors?: boolean;
  /** Whether to say only what would be done */
  dry_run: boolean;
}

export interface CsvImportReport {
  /** Whether nothing was changed */
  dry_run: boolean;
  /** Rows of the file that have something in them */
  rows: number;
  created: {
    /** New projects */
    projects: number;
    /** New tasks */
    tasks: number;
    /** New task logs */
    logs: number;
  };
  skipped: {
    /** Rows that were imported before */
    imported: number;
    /** Rows whose time is zero */
    withoutTime: number;
    /** Rows with errors */
    withErrors: number;
  };
  /** Where something is created, by name */
  projects: {
    /** null for one that a dry run would create */
    _id: number | null;
    name: string;
    /** Whether the import creates it */
    isNew: boolean;
    /** New tasks in it */
    tasks: number;
    /** New logs in it */
    logs: number;
  }[];
  /** Errors in all */
  errorCount: number;
  /** The first 100, by line */
  errors: {
    /** The line of the file on which the row begins */
    line: number;
    /** As the file names it; null for the row as a whole */
    column: string | null;
    /** Continues a sentence that begins with the column */
    message: string;
    /** As in the issues of an error */
    code: 'required' | 'invalid_type' | 'invalid_format' | 'invalid_value' | 'too_small' | 'too_big' | 'too_deep' | 'too_weak' | 'out_of_range' | 'mismatch' | 'duplicate' | 'locked' | 'not_found';
  }[];
  /** Where several dates contradict `date_order`: the orders that all dates of the file fit */
  fittingDateOrders: ('DMY' | 'MDY' | 'YMD')[];
}

export interface Timer {
  taskId: number;
  /** The employee whose time it takes */
  userId: number;
  /** UTC with milliseconds */
  startTime: string;
  description: string | null;
}

export interface TimersOnMineInput {
  /**
   * The id of the last event that the caller has; what came after it is sent first. Without it the
   * subscription begins with what happens from now on; `now` does the same and says first where that is.
   */
  lastEventId?: string | null;
}

/** Somebody has started their timer. */
export interface TimerStarted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'timer.started';
  /** When it happened */
  at: string;
  timer: Timer;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

/**
 * A timer was stopped or discarded: by its employee, by an admin, or by the service after 24 hours or
 * at an offboarding. `timer` is what it was.
 */
export interface TimerStopped {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'timer.stopped';
  /** When it happened */
  at: string;
  timer: Timer;
  /**
   * The task log that was made of its time; null where it was discarded, and where the service ended it
   * on a locked day
   */
  taskLogId: number | null;
  /** The employee who did it; null where the service did */
  actorId: number | null;
  /** Whether a text in it was cut to its first 1,000 characters: read the record for the whole one */
  truncated: boolean;
}

export interface TimesheetsGetInput {
  company_id?: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  userId?: number;
  projectId?: number;
  /** `day` unless sent */
  groupBy?: 'day' | 'week' | 'project' | 'task' | 'employee';
  /** Whether to say what time amounts to, for admins; `false` unless sent */
  amounts?: boolean;
}

export type Timesheet = {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  groupBy: 'day';
  rows: {
    userId: number;
    name: string;
    /** YYYY-MM-DD */
    date: string;
    seconds: number;
    /** The same in hours to two decimals; add up the seconds, not these */
    hours: number;
    /** What it amounts to, with `amounts=true` */
    amounts?: Money[];
  }[];
  /** Sum of all rows */
  totalSeconds: number;
  /** Sums of all rows, with `amounts=true` */
  totalAmounts?: Money[];
} | {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  groupBy: 'week';
  rows: {
    userId: number;
    name: string;
    /** ISO week */
    week: string;
    /** YYYY-MM-DD */
    monday: string;
    /** Seconds on that day; null for a day outside the range */
    mon: number | null;
    /** Seconds on that day; null for a day outside the range */
    tue: number | null;
    /** Seconds on that day; null for a day outside the range */
    wed: number | null;
    /** Seconds on that day; null for a day outside the range */
    thu: number | null;
    /** Seconds on that day; null for a day outside the range */
    fri: number | null;
    /** Seconds on that day; null for a day outside the range */
    sat: number | null;
    /** Seconds on that day; null for a day outside the range */
    sun: number | null;
    seconds: number;
    /** The same in hours to two decimals; add up the seconds, not these */
    hours: number;
    /** What it amounts to, with `amounts=true` */
    amounts?: Money[];
  }[];
  /** Sum of all rows */
  totalSeconds: number;
  /** Sums of all rows, with `amounts=true` */
  totalAmounts?: Money[];
} | {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  groupBy: 'project';
  rows: {
    projectId: number;
    /** Name of the project */
    project: string;
    seconds: number;
    /** The same in hours to two decimals; add up the seconds, not these */
    hours: number;
    /** What it amounts to, with `amounts=true` */
    amounts?: Money[];
  }[];
  /** Sum of all rows */
  totalSeconds: number;
  /** Sums of all rows, with `amounts=true` */
  totalAmounts?: Money[];
} | {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  groupBy: 'task';
  rows: {
    taskId: number;
    /** Title of the task */
    task: string;
    projectId: number;
    /** Name of the project */
    project: string;
    seconds: number;
    /** The same in hours to two decimals; add up the seconds, not these */
    hours: number;
    /** What it amounts to, with `amounts=true` */
    amounts?: Money[];
  }[];
  /** Sum of all rows */
  totalSeconds: number;
  /** Sums of all rows, with `amounts=true` */
  totalAmounts?: Money[];
} | {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  groupBy: 'employee';
  rows: {
    userId: number;
    name: string;
    seconds: number;
    /** The same in hours to two decimals; add up the seconds, not these */
    hours: number;
    /** What it amounts to, with `amounts=true` */
    amounts?: Money[];
  }[];
  /** Sum of all rows */
  totalSeconds: number;
  /** Sums of all rows, with `amounts=true` */
  totalAmounts?: Money[];
};

export interface TimePolicy {
  company_id: number;
  /** What employees hand in at a time */
  period: 'week' | 'month';
  /** The first day of a week; without effect on months */
  weekStart: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  /**
   * How many days after its last one a period may be changed, handed in or not; null for ever. With 0 it
   * is locked from the next day on
   */
  lockAfterDays: number | null;
  /** Days more until that lock; without effect where `lockAfterDays` is null */
  graceDays: number;
  /** Who decides on periods: team leaders and admins, or admins alone */
  approver: 'teamLeader' | 'admin';
  /** Whether somebody decides on a period; without it, handing in approves */
  requireApproval: boolean;
  /** Minutes of work that are expected on each day, from Monday to Sunday */
  expectedMinutes: number[];
  /** All days before this one are locked by their age now; null where none are */
  lockedBefore: string | null;
}

export interface TimePoliciesUpdateInput {
  company_id?: number;
  /** What employees hand in at a time */
  period?: 'week' | 'month';
  /** The first day of a week; without effect on months */
  weekStart?: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';
  /**
   * How many days after its last one a period may be changed, handed in or not; null for ever. With 0 it
   * is locked from the next day on
   */
  lockAfterDays?: number | null;
  /** Days more until that lock; without effect where `lockAfterDays` is null */
  graceDays?: number;
  /** Who decides on periods: team leaders and admins, or admins alone */
  approver?: 'teamLeader' | 'admin';
  /** Whether somebody decides on a period; without it, handing in approves */
  requireApproval?: boolean;
  /** Minutes of work that are expected on each day, from Monday to Sunday */
  expectedMinutes?: number[];
}

export interface RatesListInput {
  company_id?: number;
  /** A rate of this task for all who work on it; given alone */
  task_id?: number;
  /** A rate of this project */
  project_id?: number;
  /** A rate of this employee, on the project or on all */
  employee_id?: number;
  /** The `nextCursor` of the page before */
  cursor?: string;
}

export interface Rate {
  _id: number;
  company_id: number;
  task_id: number | null;
  project_id: number | null;
  employee_id: number | null;
  /**
   * The first day on which it holds, until the next rate of the same; the day of a log is that of its
   * start
   */
  validFrom: string;
  /** null where the rate before ends */
  hourlyRate: Money | null;
  /** UTC with milliseconds */
  createdAt: string;
}

export interface RatesListAnswer {
  /** The rates of this page */
  results: Rate[];
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

export interface RatesSetInput {
  company_id?: number;
  /** A rate of this task for all who work on it; given alone */
  task_id?: number;
  /** A rate of this project */
  project_id?: number;
  /** A rate of this employee, on the project or on all */
  employee_id?: number;
  /**
   * The first day on which it holds, until the next rate of the same; the day of a log is that of its
   * start
   */
  validFrom: string;
  /** For an hour; null ends the rate before, so that the next less specific one holds */
  hourlyRate: {
    /** In minor units of the currency: 9550 EUR are 95.50 €, 9550 JPY are 9,550 ¥ */
    minorUnits: number;
    /** Code of ISO 4217 */
    currency: string;
  } | null;
}

export interface RatesDeleteInput {
  company_id?: number;
  /** The rate */
  rate_id: number;
}

export interface RatesApplyToLogsInput {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** Only the logs of this task */
  task_id?: number;
  /** Only the logs of this project */
  project_id?: number;
  /** Only the logs of this employee */
  employee_id?: number;
  /** Whether to say only what would change */
  dryRun: boolean;
}

export interface RatesApplyToLogsAnswer {
  /** Whether nothing was changed */
  dryRun: boolean;
  /** How many logs were found */
  logs: number;
  /** How many of them had another rate */
  changed: number;
  /** What those amounted to */
  before: Money[];
  /** What they amount to with the new rates */
  after: Money[];
}

export interface TimesheetPeriodsSubmitInput {
  employee_id?: number;
  /** The first day of the period */
  period_start: string;
}

export interface TimesheetPeriod {
  _id: number;
  /** The employee whose time it is */
  employee_id: number;
  /** Name of the employee */
  name: string;
  /** The first day */
  firstDay: string;
  /** The last day */
  lastDay: string;
  /**
   * `open` again after it was withdrawn or reopened; `submitted` and `approved` lock its days;
   * `rejected` is to be corrected and handed in again
   */
  status: 'open' | 'submitted' | 'approved' | 'rejected';
  /** Who handed it in last */
  submittedBy: number;
  /** When it was handed in last */
  submittedAt: string;
  /** Who approved, rejected or reopened it; null where nobody did, or where no approval is required */
  decidedBy: number | null;
  /** When that was; null where it was not */
  decidedAt: string | null;
  /** What was said with the decision, or why it was reopened */
  note: string | null;
  /** The work that was expected on its days when it was handed in */
  expectedMinutes: number;
  /** The sum of its snapshot */
  totalSeconds: number;
  /** What was logged when it was handed in, or approved since, by day and project */
  snapshot: {
    /** The day */
    date: string;
    projectId: number;
    /** Logged on the project on that day */
    seconds: number;
  }[];
}

export interface TimesheetPeriodsDecideInput {
  /** The periods */
  period_ids: number[];
  /** What becomes of all of them */
  decision: 'approve' | 'reject';
  /** What the employees are told; null for nothing */
  note?: string | null;
}

export interface TimesheetPeriodsDecideAnswer {
  /** A result for each period, in the order of the request */
  results: {
    period_id: number;
    /** What became of it */
    result: 'approved' | 'rejected' | 'not_submitted' | 'own_time';
  }[];
}

export interface TimesheetPeriodsReopenInput {
  period_id: number;
  /** Why it is reopened */
  reason: string;
}

export interface TimesheetPeriodsListInput {
  company_id?: number;
  status?: 'open' | 'submitted' | 'approved' | 'rejected';
  employee_id?: number;
  /** YYYY-MM-DD */
  from?: string;
  /** YYYY-MM-DD */
  to?: string;
  /** The `nextCursor` of the page before */
  cursor?: string;
}

export interface TimesheetPeriodsListAnswer {
  /** The periods of this page */
  results: TimesheetPeriod[];
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

export interface WorkingHours {
  employee_id: number;
  /**
   * By their days, the earliest first. Before the first one the `expectedMinutes` of the time policy
   * hold
   */
  entries: {
    /** The first day on which it holds, until the next entry */
    validFrom: string;
    /** Minutes of work that are expected on each day, from Monday to Sunday */
    minutes: number[];
  }[];
}

export interface WorkingHoursSetInput {
  employee_id: number;
  /** The first day on which it holds, until the next entry */
  validFrom: string;
  /** Minutes of work that are expected on each day, from Monday to Sunday; null deletes the entry */
  minutes: number[] | null;
}

export interface HolidaysListInput {
  company_id?: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
}

export interface Holidays {
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** The holidays from `from` to `to`, by day */
  holidays: {
    /** The day of the holiday */
    date: string;
    /** Name of the holiday */
    name: string;
  }[];
}

export interface HolidaysReplaceInput {
  company_id?: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** All holidays of the range, each day once, in any order */
  holidays: {
    /** The day of the holiday */
    date: string;
    /** Name of the holiday */
    name: string;
  }[];
}

export interface BalancesGetInput {
  employee_id?: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
}

export interface BalancesGetAnswer {
  employee_id: number;
  /** YYYY-MM-DD */
  from: string;
  /** YYYY-MM-DD */
  to: string;
  /** The work that is expected */
  expectedSeconds: number;
  /** The time worked: no minute counts twice */
  workingSeconds: number;
  /** `workingSeconds` minus `expectedSeconds`: negative where time is missing */
  differenceSeconds: number;
  /** Every day of the range; their sums are above */
  days: {
    /** The day */
    date: string;
    /** The work that is expected */
    expectedSeconds: number;
    /** The time worked: no minute counts twice */
    workingSeconds: number;
    /** `workingSeconds` minus `expectedSeconds`: negative where time is missing */
    differenceSeconds: number;
    /** Name of the holiday; null on other days */
    holiday: string | null;
  }[];
}

export interface StatisticsCompanyAnswer {
  /** The projects */
  projects: {
    /** All projects */
    total: number;
    /** Those with the status `active` */
    active: number;
  };
  /** The tasks */
  tasks: {
    /** All tasks */
    total: number;
    /** The tasks by their status */
    byStatus: {
      /** Tasks with this status */
      todo: number;
      /** Tasks with this status */
      in_progress: number;
      /** Tasks with this status */
      in_review: number;
      /** Tasks with this status */
      done: number;
    };
    /** Those that are not done and were due before today */
    overdue: number;
    /** Those that are done and became so this week */
    completedThisWeek: number;
  };
  /** The logged time, by the days on which it was worked */
  hours: {
    /** Hours to two decimals, rounded once from all seconds */
    today: number;
    /** Hours to two decimals, rounded once from all seconds */
    thisWeek: number;
    /** Hours to two decimals, rounded once from all seconds */
    thisMonth: number;
    /** Hours to two decimals, rounded once from all seconds */
    total: number;
  };
  employees: {
    /** All who are not deleted */
    total: number;
    /** Those who are active */
    active: number;
  };
}

export interface EmployeePerformance {
  employee_id: number;
  name: string;
  /** All logged time, in hours to two decimals */
  loggedHours: number;
  /** Tasks owned */
  tasksAssigned: number;
  /** Those of them that are done */
  tasksCompleted: number;
  /** Those of them that are not done and were due before today */
  tasksOverdue: number;
  /**
   * Of the tasks owned that are done and had a due date, the part that became done on that day or
   * before, from 0 to 1; null without any
   */
  onTimeRate: number | null;
  /** Comments written and not deleted */
  commentsPosted: number;
  /** Latest of: the end of a log, a comment, an own task becoming done; never in the future */
  lastActivityAt: string | null;
}

export interface Comment {
  _id: number;
  taskId: number;
  sender: {
    _id: number;
    name: string;
    /** URL of the picture */
    profilePicture: string | null;
  };
  ClientSender: number | null;
  /** Sanitised HTML, safe to show; null once deleted */
  message: string | null;
  /** The addresses that the author listed */
  mentionedEmails: string[];
  /** Who is mentioned, by the list or by an @address in the text */
  mentions: { _id: number; name: string; email: string }[];
  reply_to: number | null;
  /** https URL of an attached image */
  image: string | null;
  isEdited: boolean;
  /** A deleted comment stays where it has replies, without its content */
  isDeleted: boolean;
  likes: { employee_id: number; name: string }[];
  likeCount: number;
  likedByMe: boolean;
  seenBy: {
    employee_id: number;
    name: string;
    /** UTC with milliseconds */
    seenAt: string;
  }[];
  /** Where the frontend shows this comment */
  deepLink: string;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  editedAt: string | null;
  /**
   * Oldest first, nested as deep as the discussion goes; below level 500 replies are siblings of the one
   * they answer
   */
  replies: Comment[];
}

export interface CommentsCreateInput {
  taskId: number;
  /** The employee who writes: the caller */
  sender?: number;
  /** Kept and answered as it was sent */
  ClientSender?: number | null;
  /**
   * At most 64 KiB of UTF-8, as sent and as stored. May be empty if `image` is set. HTML is sanitised
   * when it is stored: p, div, br, hr, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, pre, code, b,
   * strong, i, em, u, s, del, ins, sub, sup, span, a stay, without attributes except the `href` of a
   * link to http, https or mailto; other markup is shown as text, so nothing is lost. A stored message
   * can be sent again as HTML and stays the same.
   */
  message?: string | null;
  /**
   * What `message` is: `html`, or `text`, of which every character is kept and shown, `<` and `&`
   * included. It is answered as HTML either way.; `html` unless sent
   */
  format?: 'html' | 'text';
  /** `[]` unless sent */
  mentionedEmails?: string[];
  /** A comment of the same task */
  reply_to?: number | null;
  /** https URL of an image */
  image?: string | null;
}

export interface CommentsUpdateInput {
  comment_id: number;
  /**
   * At most 64 KiB of UTF-8, as sent and as stored. May be empty if `image` is set. HTML is sanitised
   * when it is stored: p, div, br, hr, h1, h2, h3, h4, h5, h6, ul, ol, li, blockquote, pre, code, b,
   * strong, i, em, u, s, del, ins, sub, sup, span, a stay, without attributes except the `href` of a
   * link to http, https or mailto; other markup is shown as text, so nothing is lost. A stored message
   * can be sent again as HTML and stays the same.
   */
  message?: string;
  /**
   * What `message` is: `html`, or `text`, of which every character is kept and shown, `<` and `&`
   * included. It is answered as HTML either way.; `html` unless sent
   */
  format?: 'html' | 'text';
  mentionedEmails?: string[];
}

export interface CommentsOnTaskInput {
  taskId: number;
  /**
   * The id of the last event that the caller has; what came after it is sent first. Without it the
   * subscription begins with what happens from now on; `now` does the same and says first where that is.
   */
  lastEventId?: string | null;
}

/** Somebody has written a comment. */
export interface CommentCreated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.created';
  /** When it happened */
  at: string;
  taskId: number;
  commentId: number;
  /** Who did it, where that is known */
  actorId: number | null;
  /** The comment as it stands when this is sent, which may be later; null where it is gone */
  comment: CommentNow | null;
}

export interface CommentNow {
  _id: number;
  taskId: number;
  sender: {
    _id: number;
    name: string;
    /** URL of the picture */
    profilePicture: string | null;
  };
  ClientSender: number | null;
  /** Sanitised HTML, safe to show; null once deleted */
  message: string | null;
  /** The addresses that the author listed */
  mentionedEmails: string[];
  /** Who is mentioned, by the list or by an @address in the text */
  mentions: { _id: number; name: string; email: string }[];
  reply_to: number | null;
  /** https URL of an attached image */
  image: string | null;
  isEdited: boolean;
  /** A deleted comment stays where it has replies, without its content */
  isDeleted: boolean;
  likes: { employee_id: number; name: string }[];
  likeCount: number;
  likedByMe: boolean;
  seenBy: {
    employee_id: number;
    name: string;
    /** UTC with milliseconds */
    seenAt: string;
  }[];
  /** Where the frontend shows this comment */
  deepLink: string;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  editedAt: string | null;
}

/** Its author has changed it. */
export interface CommentEdited {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.edited';
  /** When it happened */
  at: string;
  taskId: number;
  commentId: number;
  /** Who did it, where that is known */
  actorId: number | null;
  /** The comment as it stands when this is sent, which may be later; null where it is gone */
  comment: CommentNow | null;
}

/** It was deleted: `comment` is its tombstone where it has replies, else null. */
export interface CommentDeleted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.deleted';
  /** When it happened */
  at: string;
  taskId: number;
  commentId: number;
  /** Who did it, where that is known */
  actorId: number | null;
  /** The comment as it stands when this is sent, which may be later; null where it is gone */
  comment: CommentNow | null;
}

/** Somebody likes it. */
export interface CommentLiked {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.liked';
  /** When it happened */
  at: string;
  taskId: number;
  commentId: number;
  /** Who did it, where that is known */
  actorId: number | null;
  /** The comment as it stands when this is sent, which may be later; null where it is gone */
  comment: CommentNow | null;
}

/** Somebody has taken their like back. */
export interface CommentUnliked {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.unliked';
  /** When it happened */
  at: string;
  taskId: number;
  commentId: number;
  /** Who did it, where that is known */
  actorId: number | null;
  /** The comment as it stands when this is sent, which may be later; null where it is gone */
  comment: CommentNow | null;
}

/** Somebody has seen comments of others. */
export interface CommentSeen {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'comment.seen';
  /** When it happened */
  at: string;
  taskId: number;
  /** What they had not seen before */
  commentIds: number[];
  seenBy: {
    employee_id: number;
    name: string;
    /** UTC with milliseconds */
    seenAt: string;
  };
}

export type CommentsOnTaskEvent =
  CommentCreated | CommentEdited | CommentDeleted | CommentLiked | CommentUnliked | CommentSeen | StreamReset;

export interface NotificationsListInput {
  /** Without regard to case */
  app_type?: 'hr' | 'task';
  category?: 'task' | 'project' | 'need_attention' | 'message' | 'notice';
  priorty?: 'primary' | 'updates' | 'others' | 'activity';
  /** The same as `priorty`, which counts where both are sent */
  priority?: 'primary' | 'updates' | 'others' | 'activity';
  isArchive?: boolean;
  later?: boolean;
  read?: boolean;
  starred?: boolean;
  isMention?: boolean;
  recipient_id?: number;
  /** Page number, from 1; a page past the end is empty; `1` unless sent */
  page?: number;
}

export interface Notification {
  _id: number;
  recipient_id: number;
  /** `hr` for people and time, `task` for the rest */
  app_type: 'hr' | 'task';
  /**
   * `task`: one was assigned, or made a collaborator, or a task of theirs is due tomorrow (at 08:00 in
   * the time zone of the company); `project`: one was made its owner, or its hours or its budget are
   * exceeded (admins); `message`: comments and likes; `notice`: company-wide, such as another name or
   * time zone, or a trial that ends in three days; `need_attention`: what waits for the reader, such as
   * a task of theirs that is overdue (told once, on the morning after), a period that ends today and was
   * not handed in (at 08:00, where periods are approved), a timer that was closed after 24 hours, or a
   * project that has used 50 or 80 % of its hours or budget (admins)
   */
  category: 'task' | 'project' | 'need_attention' | 'message' | 'notice';
  /**
   * `primary`: it concerns the reader directly; `updates`: something that they follow moved on;
   * `activity`: likes; `others`: notices. Spelled so throughout the interface
   */
  priorty: 'primary' | 'updates' | 'others' | 'activity';
  title: string;
  message: string;
  link: string | null;
  /** Who caused it */
  actor: { _id: number; name: string } | null;
  taskId: number | null;
  commentId: number | null;
  projectId: number | null;
  isMention: boolean;
  read: boolean;
  starred: boolean;
  later: boolean;
  isArchive: boolean;
  /** UTC with milliseconds */
  createdAt: string;
}

export interface NotificationsUpdateInput {
  notification_id: number;
  isArchive?: boolean;
  later?: boolean;
  starred?: boolean;
  read?: boolean;
}

/**
 * For each category. At first everything is shown in the app, and only mentions (`message`) are
 * mailed, so that nobody is flooded.
 */
export interface NotificationPreferences {
  task: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  project: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  need_attention: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  message: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  notice: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
}

export interface NotificationPreferencesChange {
  task?: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  project?: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  need_attention?: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  message?: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  notice?: {
    /** Shown in the list of notifications */
    inApp: boolean;
    /**
     * Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but
     * not what they merely follow; of `message` that is mentions. What is told at once is one mail, and
     * beyond 20 an hour there are none
     */
    email: boolean;
  };
  employee_id: number;
}

export interface NotificationsOnMineInput {
  /**
   * The id of the last event that the caller has; what came after it is sent first. Without it the
   * subscription begins with what happens from now on; `now` does the same and says first where that is.
   */
  lastEventId?: string | null;
}

/** There is a new one. */
export interface NotificationCreated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'notification.created';
  /** When it happened */
  at: string;
  /** How many are unread after this */
  unread: number;
  notificationId: number;
  /** As it stands when this is sent, which may be later; null where it is gone */
  notification: Notification | null;
}

/** Some were marked as read. */
export interface NotificationRead {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'notification.read';
  /** When it happened */
  at: string;
  /** How many are unread after this */
  unread: number;
  /** Which; null where they are more than 1,000: read the list again */
  notificationIds: number[] | null;
  /** true; false in events of older versions, for those marked as unread again */
  read: boolean;
}

/** Flags of one were changed, `read` included: all four as they are after this. */
export interface NotificationUpdated {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'notification.updated';
  /** When it happened */
  at: string;
  /** How many are unread after this */
  unread: number;
  notificationId: number;
  read: boolean;
  starred: boolean;
  later: boolean;
  isArchive: boolean;
}

/** Some were deleted. */
export interface NotificationDeleted {
  /** Its number in the stream: one more than the event before, in the order of commits */
  id: number;
  type: 'notification.deleted';
  /** When it happened */
  at: string;
  /** How many are unread after this */
  unread: number;
  /** Which; null where they are more than 1,000: read the list again */
  notificationIds: number[] | null;
}

export type NotificationsOnMineEvent =
  NotificationCreated | NotificationRead | NotificationUpdated | NotificationDeleted | StreamReset;

export interface WebhooksCreateInput {
  /**
   * Where messages are posted: an https URL of a public address, without a user. Its path and query may
   * hold a secret: only admins see it
   */
  url: string;
  /** The types of events that it receives */
  events: ('task.created' | 'task.updated' | 'task.deleted' | 'task_log.created' | 'task_log.updated' | 'task_log.deleted' | 'timer.started' | 'timer.stopped' | 'period.submitted' | 'period.decided' | 'period.reopened' | 'project.created' | 'project.updated' | 'project.deleted' | 'project.imported' | 'employee.created' | 'employee.updated' | 'employee.declined' | 'employee.deleted' | 'employee.restored' | 'employee.erased' | 'company.updated' | 'company.closed' | 'company.reopened' | 'api_key.created' | 'api_key.revoked' | 'comment.created' | 'comment.edited' | 'comment.deleted' | 'comment.liked' | 'comment.unliked')[];
  /** What it is for; null for nothing */
  description?: string | null;
}

export interface WebhookWithSecret {
  _id: number;
  companyId: number;
  /**
   * Where messages are posted: an https URL of a public address, without a user. Its path and query may
   * hold a secret: only admins see it
   */
  url: string;
  /** The types of events that it receives */
  events: string[];
  /** What it is for; null for nothing */
  description: string | null;
  /** Whether it receives messages */
  isEnabled: boolean;
  /**
   * Why the service has disabled it: `gone` where it answered 410, `failing` after five days of
   * failures; null otherwise
   */
  disabledBecause: 'gone' | 'failing' | null;
  /** Since when all attempts have failed; null where the last one succeeded */
  failingSince: string | null;
  /** Until when the secret from before the last rotation signs too; null where it does not any more */
  previousSecretUntil: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
  /** The secret that signs: `whsec_` and 32 bytes in base64. Shown in this answer and never again */
  secret: string;
}

export interface Webhook {
  _id: number;
  companyId: number;
  /**
   * Where messages are posted: an https URL of a public address, without a user. Its path and query may
   * hold a secret: only admins see it
   */
  url: string;
  /** The types of events that it receives */
  events: string[];
  /** What it is for; null for nothing */
  description: string | null;
  /** Whether it receives messages */
  isEnabled: boolean;
  /**
   * Why the service has disabled it: `gone` where it answered 410, `failing` after five days of
   * failures; null otherwise
   */
  disabledBecause: 'gone' | 'failing' | null;
  /** Since when all attempts have failed; null where the last one succeeded */
  failingSince: string | null;
  /** Until when the secret from before the last rotation signs too; null where it does not any more */
  previousSecretUntil: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** UTC with milliseconds */
  updatedAt: string;
}

export interface WebhooksListAnswer {
  /** The webhooks, the newest first */
  webhooks: Webhook[];
  /** Ed25519 keys of the service: `whpk_` and 32 bytes in base64 */
  publicKeys: string[];
}

export interface WebhooksUpdateInput {
  /**
   * Where messages are posted: an https URL of a public address, without a user. Its path and query may
   * hold a secret: only admins see it
   */
  url?: string;
  /** The types of events that it receives */
  events?: ('task.created' | 'task.updated' | 'task.deleted' | 'task_log.created' | 'task_log.updated' | 'task_log.deleted' | 'timer.started' | 'timer.stopped' | 'period.submitted' | 'period.decided' | 'period.reopened' | 'project.created' | 'project.updated' | 'project.deleted' | 'project.imported' | 'employee.created' | 'employee.updated' | 'employee.declined' | 'employee.deleted' | 'employee.restored' | 'employee.erased' | 'company.updated' | 'company.closed' | 'company.reopened' | 'api_key.created' | 'api_key.revoked' | 'comment.created' | 'comment.edited' | 'comment.deleted' | 'comment.liked' | 'comment.unliked')[];
  /** What it is for; null for nothing */
  description?: string | null;
  webhook_id: number;
  /** Whether it receives messages */
  isEnabled?: boolean;
}

export interface WebhookDelivery {
  _id: number;
  webhookId: number;
  /** The header `webhook-id`, the same at each attempt */
  messageId: string;
  /** The type of the event; `webhook.test` for a test */
  type: string;
  /** The stream of the event; null for a test */
  stream: string | null;
  /** The number of the event in its stream, where some may be missing; null for a test */
  sequence: number | null;
  /** `pending` until it is `delivered`, or has `failed` for the last time */
  state: 'pending' | 'delivered' | 'failed';
  /** The last 20 attempts of the last 30 days, the first one first */
  attempts: {
    /** When it began */
    at: string;
    /** How long it took */
    durationMs: number;
    /** The status of the answer; null where none came */
    status: number | null;
    /** Why no answer came; null where one did */
    error: string | null;
    /** How the answer begins, up to 1 KiB; null where none came */
    answer: string | null;
  }[];
  /** When it is tried next; null where it is not */
  nextAttemptAt: string | null;
  /** When the event happened */
  createdAt: string;
}

export interface WebhooksRecoverInput {
  webhook_id: number;
  /** Events from this moment on */
  since: string;
}

export interface WebhooksRecoverAnswer {
  /** How many messages are due again */
  recovered: number;
}

export interface WebhooksDeliveriesInput {
  webhook_id: number;
  /** Where to go on: the `nextCursor` of the answer before */
  cursor?: string;
}

export interface WebhooksDeliveriesAnswer {
  /** The messages, the newest first */
  deliveries: WebhookDelivery[];
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

export interface AuditListInput {
  company_id?: number;
  employee_id?: number;
  /** Rows of this operation only, as the client names it */
  operation?: string;
  /** Rows about things of this kind, or about one thing */
  subject?: string;
  /** Rows from this moment on */
  from?: string;
  /** Rows before this moment */
  to?: string;
  /** The `nextCursor` of the page before */
  cursor?: string;
}

export interface AuditEntry {
  /** Number of the row; they have gaps */
  _id: number;
  /** When it was written, by the clock of the database */
  at: string;
  /**
   * The operation, as the client names it; of a job its name; `*` stands for further refusals that were
   * only counted
   */
  operation: string;
  /** Refused: a failed sign-in, or a call that this caller may not make; it changed nothing */
  result: 'done' | 'refused';
  /** Why it was refused */
  errorCode: string | null;
  /** How many times the same was refused in a row */
  times: number;
  /** The employee who did it; null if it was none */
  employee_id: number | null;
  /** The account of the session */
  accountId: number | null;
  /** The API key that was used */
  apiKeyId: number | null;
  /** The session that was used */
  sessionId: number | null;
  /** The caller's address, IPv6 by its /64; null for a job */
  network: string | null;
  /** Identifier of the request, as in the log */
  requestId: string | null;
  /** How it was called; `mcp`: by an agent; `job`: by the service itself, later */
  transport: 'rest' | 'trpc' | 'mcp' | 'job';
  /** What it was done to */
  subject: {
    /** The kind of thing */
    kind: string;
    /** Which one of that kind */
    id: number | null;
  } | null;
  /** What it changed; empty for what was refused */
  changes: {
    /** What happened, as events name it */
    event: string;
    /** The kind of thing that changed */
    kind: string;
    /** Which thing of that kind */
    id: number | null;
    /** The changed fields as they were; all fields of what was deleted; null for what was made */
    before: {  } | null;
    /** The changed fields as they are since; all fields of what was made; null for what was deleted */
    after: {  } | null;
  }[];
}

export interface AuditListAnswer {
  results: AuditEntry[];
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

export interface AuditExportInput {
  company_id?: number;
  employee_id?: number;
  /** Rows of this operation only, as the client names it */
  operation?: string;
  /** Rows about things of this kind, or about one thing */
  subject?: string;
  /** Rows from this moment on */
  from?: string;
  /** Rows before this moment */
  to?: string;
}

export interface AuditVerifyInput {
  company_id?: number;
  /** Checks the seals after this one; `0` unless sent */
  after?: number;
  /** A seal of an earlier answer */
  knownSeal?: number;
  /** The hash of that seal in the earlier answer */
  knownHash?: string;
}

export interface AuditVerdict {
  /** Whether nothing is wrong in what was checked */
  isIntact: boolean;
  /** The first thing that is wrong */
  problem: {
    /** `unknown key`: the last seals are signed with a key that the service has no more */
    kind: 'row changed' | 'row removed' | 'row inserted' | 'seal changed' | 'seal removed' | 'unknown key';
    /** Number of the seal in the chain of the company */
    seal: number;
    /** The row, `_id`; null if it is a seal */
    rowId: number | null;
  } | null;
  /** How many seals this call has verified */
  checkedSeals: number;
  /** How many rows are under them */
  checkedRows: number;
  /** How many of them have lost values of a person who was erased, by signed statements of the service */
  erasedRows: number;
  /** Rows since the last seal, usually of the last minute; nothing proves them yet */
  unsealedRows: number;
  /** When the oldest of them was written; null without any */
  oldestUnsealedAt: string | null;
  /** The last seal that was checked: store it elsewhere, and send it as `knownSeal` and `knownHash` */
  lastSeal: {
    /** Number of the seal in the chain of the company */
    seal: number;
    /** SHA-256 of its signed statement, in base64url */
    hash: string;
    /** When it was made */
    sealedAt: string;
  } | null;
  /** Send it as `after` to go on; null if everything was checked */
  next: number | null;
}

export interface ExportsCreateInput {
  /** The employee whose data it has; null for the whole company */
  userId?: number | null;
}

/** A file with the data of a company or of one person */
export interface Export {
  _id: number;
  companyId: number;
  /** The employee whose data it has; null for the whole company */
  userId: number | null;
  /** The admin who asked for it */
  requestedById: number;
  /** How it stands */
  state: 'waiting' | 'running' | 'finished';
  /** How many rows have been written */
  rowsDone: number;
  /** How many rows there are; null until they are counted */
  rowsTotal: number | null;
  /** The size of the file; null until it is finished */
  bytes: number | null;
  /** The SHA-256 of the file in hexadecimal; null until it is finished */
  sha256: string | null;
  /**
   * Where the file is, for GET without a token, until `expiresAt`; null until it is finished. It lets
   * its holder read all that is in the file, and stops working when the admin who asked for it is no
   * admin any more
   */
  url: string | null;
  /** UTC with milliseconds */
  createdAt: string;
  /** When it was finished; null before */
  finishedAt: string | null;
  /** When it is deleted: 24 hours after it is finished, or asked for */
  expiresAt: string;
}

export interface ExportsListAnswer {
  /** The exports, the newest first */
  exports: Export[];
}

export interface ExportsGetInput {
  /** The export */
  export_id: number;
}

export interface ExportsDeleteInput {
  /** The export */
  export_id: number;
}

export interface SearchCompanyInput {
  company_id?: number;
  q: string;
  /**
   * One or several of employee, project, task and comment, separated by commas;
   * `employee,project,task,comment` unless sent
   */
  kind?: string;
  project_id?: number;
  /** How many results a page has; `20` unless sent */
  limit?: number;
  /** The `nextCursor` of the page before */
  cursor?: string;
}

export interface SearchResult {
  /** What was found */
  kind: 'employee' | 'project' | 'task' | 'comment';
  /** Of the employee, project, task or comment */
  _id: number;
  /** Its name or title; of a comment the title of its task */
  title: MarkedText;
  /**
   * At most about 160 characters around the first match in its description or message, or in the
   * designation and address of an employee, with `…` where it is cut; null if only the title matches
   */
  excerpt: MarkedText | null;
  /** Of a project, a task or a comment */
  projectId: number | null;
  /** Of a task or a comment */
  taskId: number | null;
}

export interface MarkedText {
  /** Plain text, not HTML */
  text: string;
  /**
   * What matches: places in `text` in UTF-16 code units, as JavaScript counts, in order and without
   * overlaps
   */
  ranges: {
    /** The first code unit */
    start: number;
    /** The first code unit after it */
    end: number;
  }[];
}

export interface SearchCompanyAnswer {
  /** The best matches first */
  results: SearchResult[];
  /** Where to go on; null at the end */
  nextCursor: string | null;
}

/** All error codes of the service, each with its HTTP status. */
export interface ErrorStatuses {
  /**
   * Prove that the address is yours: send the `token` of the invitation’s link, or sign in with an
   * e-mailed code, Google or Apple first.
   */
  ADDRESS_PROOF_REQUIRED: 403;
  /** Only an admin of the company may do this. */
  ADMIN_REQUIRED: 403;
  /** The body is larger than this operation takes. */
  BODY_TOO_LARGE: 413;
  /**
   * The company is closed: until it is removed it can be read and exported, but not changed. Its owner
   * can reopen it with POST /api/company/{company_id}/reopen/.
   */
  COMPANY_CLOSED: 409;
  /** This session belongs to no company: register one first. */
  COMPANY_REQUIRED: 403;
  /** The current password is wrong. */
  CURRENT_PASSWORD_WRONG: 403;
  /** This employee already has a log on this task that starts at the same moment. */
  DUPLICATE_TASK_LOG: 409;
  /** This employee is deleted: restore them with POST /api/employees/{_id}/restore/. */
  EMPLOYEE_DELETED: 409;
  /** This person was erased, which cannot be taken back: add them as a new employee. */
  EMPLOYEE_ERASED: 409;
  /** Somebody with this e-mail address is an employee of the company already. */
  EMPLOYEE_EXISTS: 409;
  /** The service meets no `Expect` but `100-continue`. */
  EXPECTATION_FAILED: 417;
  /** The company has an export that is not finished: wait for it, or delete it. */
  EXPORT_IN_PROGRESS: 409;
  /** The company has 5 exports: delete one, or wait until one expires. */
  EXPORT_LIMIT_REACHED: 409;
  /** You may not do this. */
  FORBIDDEN: 403;
  /** The first request with this Idempotency-Key is still running: try again shortly. */
  IDEMPOTENCY_KEY_IN_USE: 409;
  /** This Idempotency-Key was used with another body: take a new key. */
  IDEMPOTENCY_KEY_REUSED: 422;
  /** Something went wrong on our side. Nothing was changed; quote the requestId when you report it. */
  INTERNAL_ERROR: 500;
  /** The e-mail address or the password is wrong. */
  INVALID_CREDENTIALS: 401;
  /** The identity token is not valid for this service, or does not prove that e-mail address. */
  INVALID_IDENTITY_TOKEN: 401;
  /** The code is wrong, used or older than 10 minutes: ask for a new one. */
  INVALID_OTP: 401;
  /** The reset link is not valid, was used, or is older than 30 minutes: ask for a new one. */
  INVALID_RESET_TOKEN: 401;
  /** The token is not valid or has expired: sign in again. */
  INVALID_TOKEN: 401;
  /** This is the last active admin of the company: make somebody else an admin first. */
  LAST_ADMIN: 409;
  /** The body is not valid JSON. */
  MALFORMED_JSON: 400;
  /** The request is not valid HTTP. */
  MALFORMED_REQUEST: 400;
  /** This path does not take this method; `Allow` lists those that it takes. */
  METHOD_NOT_ALLOWED: 405;
  /** There is no such thing here. */
  NOT_FOUND: 404;
  /** Only the author of a comment may edit it. */
  NOT_THE_AUTHOR: 403;
  /** Only the author of a comment or the owner of its task may delete it. */
  NOT_THE_AUTHOR_OR_OWNER: 403;
  /** `sender` must be the employee who is signed in: nobody writes in the name of another. */
  NOT_THE_SENDER: 403;
  /** The service has more to do than it can right now: try again shortly. */
  OVERLOADED: 503;
  /**
   * This employee owns the company, and only the owner can close it: a company ends with POST
   * /api/company/{company_id}/close/.
   */
  OWNER_NOT_ERASED: 409;
  /** Only the owner of the company may do this. */
  OWNER_REQUIRED: 403;
  /** The new password and its confirmation differ. */
  PASSWORD_MISMATCH: 400;
  /**
   * The new password has fewer than 8 characters, is one of the most common ones, the address, or one
   * character repeated.
   */
  PASSWORD_TOO_WEAK: 400;
  /**
   * The time of these days is handed in, or too old to be changed: have an admin reopen the period, or
   * change single logs with an override.
   */
  PERIOD_LOCKED: 409;
  /** The period is not waiting for a decision: only such a one can be withdrawn. */
  PERIOD_NOT_SUBMITTED: 409;
  /** The period, or a part of it, was handed in already. */
  PERIOD_SUBMITTED: 409;
  /** The timer of the employee runs in this period: stop it first. */
  PERIOD_TIMER_RUNNING: 409;
  /**
   * The company's plan has no place for another active employee: deactivate somebody, or take a larger
   * plan.
   */
  PLAN_LIMIT_REACHED: 409;
  /**
   * Send a proof as `Authorization: Bearer`: a login ticket, a token pair of that account, or an API key
   * of that company with the scope login.
   */
  PROOF_REQUIRED: 401;
  /** Too many requests: wait as long as `Retry-After` says. */
  RATE_LIMITED: 429;
  /**
   * The request did not come in time: nothing of its body came for 10 seconds, or not all of it in a
   * minute.
   */
  REQUEST_TIMEOUT: 408;
  /** No operation has this path: compare it with the reference at /docs, letter by letter. */
  ROUTE_NOT_FOUND: 404;
  /** The API key lacks a scope that this operation needs; `missingScopes` names it. */
  SCOPE_REQUIRED: 403;
  /** The service cannot answer right now: try again shortly. */
  SERVICE_UNAVAILABLE: 503;
  /** An API key of the company opened this session, so it has no account: sign in as yourself for this. */
  SESSION_BOUND: 403;
  /** This session has ended: sign in again. */
  SESSION_ENDED: 401;
  /** An API key may not do this: sign in. */
  SESSION_REQUIRED: 403;
  /** You have no timer running. */
  TIMER_NOT_RUNNING: 409;
  /** Your timer is running already: stop it first. */
  TIMER_RUNNING: 409;
  /** The access token and the refresh token of one session must be sent together. */
  TOKEN_PAIR_REQUIRED: 401;
  /** Too many connections are open for this caller: close some, or use one for all subscriptions. */
  TOO_MANY_CONNECTIONS: 429;
  /** Too many subscriptions run on this connection: end some first. */
  TOO_MANY_SUBSCRIPTIONS: 429;
  /**
   * This operation needs a sign-in: send the access token as `Authorization: Bearer` and the refresh
   * token as `X-Refresh-Token`.
   */
  UNAUTHENTICATED: 401;
  /** Bodies are JSON in UTF-8: send `Content-Type: application/json`, and no `Content-Encoding`. */
  UNSUPPORTED_MEDIA_TYPE: 415;
  /** The input is not valid; `issues` names each field and what is wrong with it. */
  VALIDATION_FAILED: 400;
  /** The webhook is disabled: enable it first (`isEnabled: true`). */
  WEBHOOK_DISABLED: 409;
  /** The company has 20 webhooks: delete one first. */
  WEBHOOK_LIMIT_REACHED: 409;
}

/** The codes of issues, each with its meaning. */
export interface IssueCodes {
  /** It is missing. */
  required: true;
  /** It has the wrong JSON type, such as text where a number is wanted. */
  invalid_type: true;
  /** It has the right type and not the form that is asked for, such as an e-mail address or a timestamp. */
  invalid_format: true;
  /** It is none of the values that are allowed; the message lists them where they are few. */
  invalid_value: true;
  /** It is below the least value, shorter than allowed, or has too few entries. */
  too_small: true;
  /** It is above the greatest value, longer than allowed, or has too many entries. */
  too_big: true;
  /** It has arrays or objects inside each other beyond what is allowed. */
  too_deep: true;
  /** It is a password that is guessed too easily. */
  too_weak: true;
  /** It does not go together with another field or with the present, such as an end before its start. */
  out_of_range: true;
  /** It is not what another part of the request says. */
  mismatch: true;
  /** It is stored already, or given twice. */
  duplicate: true;
  /** Its day is locked: the time was handed in, or is too old to be changed. */
  locked: true;
  /**
   * It names nothing in the caller's company, or somebody who is not active where only such a one will
   * do.
   */
  not_found: true;
}

export interface AuthOperations {
  /**
   * Sign in with e-mail and password.
   *
   * A wrong password and an unknown address get the same answer in the same time. Ten failures in 15
   * minutes from one network close the address to that network until they have passed.
   *
   * REST: `POST /login/`
   *
   * @throws {ApiError} INVALID_CREDENTIALS, OVERLOADED
   * @example
   * await client.auth.login({ email: 'ada@example.com', password: 'correct horse battery staple' });
   */
  login(input: AuthLoginInput, options?: CallOptions): Call<SignedInResult | CompanyChoice>;

  /**
   * Sign in with a Google identity token.
   *
   * Signature, issuer, audience (and `azp`, where the token has one), expiry and `email_verified` are
   * checked, and `nonce` where it is sent; a token signs in once, but for one whose answer was a choice
   * of companies: that may be sent again with `company_id`, instead of the ticket; the address is taken
   * from the token, and `email` must equal it when sent. Makes the account where there is none; such a
   * session can register a company.
   *
   * REST: `POST /api/google-login/`
   *
   * @throws {ApiError} INVALID_IDENTITY_TOKEN
   * @example
   * await client.auth.googleLogin({
   *   token: 'eyJhbGciOiJSUzI1NiIs…',
   *   email: 'ada@example.com',
   *   name: 'Ada Lovelace'
   * });
   */
  googleLogin(input: AuthGoogleLoginInput, options?: CallOptions): Call<SignedInResult | CompanyChoice>;

  /**
   * Sign in with an Apple identity token (iOS and web).
   *
   * Checked as the Google login is. Apple leaves the address out after the first login: then the
   * identity that is stored decides. Where none is stored, the account is joined whose registration
   * named this `appleUserId` within the last 24 hours, if the token carries no address or a relay
   * address.
   *
   * REST: `POST /api/apple-login/`
   *
   * @throws {ApiError} INVALID_IDENTITY_TOKEN
   * @example
   * await client.auth.appleLogin({
   *   token: 'eyJhbGciOiJFUzI1NiIs…',
   *   email: 'ada@example.com',
   *   name: 'Ada Lovelace'
   * });
   */
  appleLogin(input: AuthAppleLoginInput, options?: CallOptions): Call<SignedInResult | CompanyChoice>;

  /**
   * Send a sign-in code to an address.
   *
   * Six digits for POST /otp-login/, valid for 10 minutes and for one use; a new code replaces the old
   * one. Signing in with it verifies the address, so this is also the optional step after a
   * registration. The answer and its time are the same whether or not the address is known; a mail goes
   * out only where it is. At most 5 codes an hour to one address, those of registrations included.
   *
   * REST: `POST /verify-email/`
   *
   * @example
   * await client.auth.verifyEmail({ email: 'ada@example.com' });
   */
  verifyEmail(input: AuthVerifyEmailInput, options?: CallOptions): Call<{ success: true }>;

  /**
   * Sign in with an e-mailed code.
   *
   * Where the account is an employee of several companies and `company_id` is not sent, the answer lists
   * them with a `login_ticket` for POST /token-login/. The code is used up either way. Five wrong
   * attempts end a code. After 20 at one address in a day a code may be tried only once, and only from
   * the network that requested it; attempts from other networks get 429.
   *
   * REST: `POST /otp-login/`
   *
   * @throws {ApiError} INVALID_OTP
   * @example
   * await client.auth.otpLogin({ email: 'ada@example.com', otp: '042917' });
   */
  otpLogin(input: AuthOtpLoginInput, options?: CallOptions): Call<SignedInResult | CompanyChoice>;

  /**
   * Sign in to a company without a password, with another credential.
   *
   * For the choice of a company, deep links, SSO and redirects. Instead of a password it needs a
   * credential as `Authorization: Bearer`: a `login_ticket` of that e-mail; an access token (with its
   * refresh token) whose account has that e-mail, to change company (its session ends); or an API key of
   * that company with the scope `login`, whose creator is an admin. A session that a key opens is bound:
   * it acts as that employee in that company and reaches no account, so it cannot change company, see
   * other sessions, make keys, change a password or address, or accept an invitation (`SESSION_BOUND`);
   * the employee is told by mail the first time each key signs them in. `company_name`, when sent, must
   * be that company’s name; `isAdmin: true` asks that the employee be an admin.
   *
   * REST: `POST /token-login/`
   *
   * @throws {ApiError} PROOF_REQUIRED, INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, SESSION_BOUND,
   * SCOPE_REQUIRED, ADMIN_REQUIRED
   * @example
   * await client.auth.tokenLogin({ email: 'ada@example.com', company_id: 7, isAdmin: false });
   */
  tokenLogin(input: AuthTokenLoginInput, options?: CallOptions): Call<SignedInResult>;

  /**
   * Exchange a refresh token for a new pair.
   *
   * The refresh token that was sent dies. Sending a dead one again ends the whole session, for one of
   * its two holders stole it; only within 10 seconds of its rotation, when two tabs race, it is answered
   * with the same successor instead. A session lives 90 days from its sign-in at most, however often it
   * is refreshed.
   *
   * REST: `POST /api/token/refresh/`
   *
   * @throws {ApiError} INVALID_TOKEN, SESSION_ENDED
   * @example
   * await client.auth.refresh({
   *   refresh_token: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.eyJzaWQiOjQyfQ.c2lnbmF0dXJl'
   * });
   */
  refresh(input: { refresh_token: string }, options?: CallOptions): Call<AuthRefreshAnswer>;

  /**
   * End this session.
   *
   * Both tokens of the pair in the headers are dead at once, on every node.
   *
   * REST: `POST /logout/`
   */
  logout(options?: WriteOptions): Call<{ success: true }>;
}

export interface RegistrationOperations {
  /**
   * Send a registration code to an address.
   *
   * The first step of a registration. Six digits, valid for 10 minutes and for one use; a new code
   * replaces the old one. At most 5 codes an hour to one address, those for sign-ins included. The
   * answer is the same for known and unknown addresses.
   *
   * REST: `POST /get-register-otp/`
   *
   * @example
   * await client.registration.requestCode({ email: 'ada@example.com' });
   */
  requestCode(input: RegistrationRequestCodeInput, options?: CallOptions): Call<{ success: true }>;

  /**
   * Register a company and its first admin.
   *
   * Makes the company, its admin employee, a 30-day trial subscription, a default schedule, workspace,
   * storage and notification setup, and signs the admin in. All of it happens or nothing: a failure
   * leaves the code unused. `appleUserId` is only a claim: an Apple login within 24 hours that proves
   * it, with no e-mail address or a relay address, is linked to this account, once, where no other
   * account has that identity.
   *
   * REST: `POST /api/create-company-and-employee/`
   *
   * @throws {ApiError} INVALID_OTP
   * @example
   * await client.registration.registerCompany({
   *   company_name: 'Analytical Engines',
   *   email: 'ada@example.com',
   *   otp: '042917',
   *   first_name: 'Ada',
   *   last_name: 'Lovelace'
   * });
   */
  registerCompany(input: RegistrationRegisterCompanyInput, options?: CallOptions): Call<RegistrationResult>;
}

export interface PasswordsOperations {
  /**
   * Send a password reset link to an address.
   *
   * The link leads to `APP_URL/reset-password?token=…`, works once and for 30 minutes. The answer and
   * its time are the same whether or not the address is known; a mail goes out only where it is. At most
   * 5 an hour to one address.
   *
   * REST: `POST /reset/link/`
   *
   * @example
   * await client.passwords.requestReset({ email: 'ada@example.com' });
   */
  requestReset(input: PasswordsRequestResetInput, options?: CallOptions): Call<{ success: true }>;

  /**
   * Set a new password with the token of a reset link.
   *
   * Uses the token up, verifies the address, ends every session of the account, its open reset links and
   * codes and the API keys that it made, and tells the account by mail.
   *
   * REST: `POST /reset/verify/`
   *
   * @throws {ApiError} INVALID_RESET_TOKEN, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK, OVERLOADED
   * @example
   * await client.passwords.reset({
   *   token: 'q3Zt0k8Yb1…',
   *   new_password: 'correct horse battery',
   *   confirm_password: 'correct horse battery'
   * });
   */
  reset(input: PasswordsResetInput, options?: CallOptions): Call<{ success: true }>;

  /**
   * Change one's own password.
   *
   * The current password is verified; ten wrong ones in 15 minutes close the operation for that time.
   * Ends every other session of the account and its open reset links and codes, and tells the account by
   * mail, which lists the API keys that stay valid; with `revoke_api_keys: true` those end too. An
   * account without a password sets its first one by a reset link.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `PUT /employee/password/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN, SESSION_REQUIRED, SESSION_BOUND, CURRENT_PASSWORD_WRONG,
   * PASSWORD_MISMATCH, PASSWORD_TOO_WEAK, OVERLOADED
   * @example
   * await client.passwords.change({
   *   current_password: 'old and long enough',
   *   new_password: 'correct horse battery',
   *   confirm_password: 'correct horse battery'
   * });
   */
  change(input: PasswordsChangeInput, options?: WriteOptions): Call<{ success: true }>;
}

export interface SessionsOperations {
  /**
   * One's own live sessions, the latest used first.
   *
   * REST: `GET /api/sessions/`
   */
  list(options?: CallOptions): Call<{ sessions: Session[] }>;

  /**
   * End one of one's own sessions.
   *
   * REST: `DELETE /api/sessions/{session_id}/`
   */
  end(input: { session_id: number }, options?: WriteOptions): Call<{ success: true }>;
}

export interface ApiKeysOperations {
  /**
   * Make an API key for scripts and integrations.
   *
   * The key is shown in this answer and never again. It acts as the employee who made it, within its
   * scopes and never beyond what the employee may do. Each operation says which scopes it needs: those
   * of an area, such as `time:read`, or `read` or `write`, which hold all areas. Only admins make keys
   * with `admin`, which gives a key of single areas their admin rights there, and with `login`, which
   * signs employees of the company in through POST /token-login/. The key ends with the employee’s
   * access, and with a reset of their password. The account is told of it by mail, and again a week
   * before it expires, if it lives longer than a week.
   *
   * REST: `POST /api/api-keys/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND, ADMIN_REQUIRED
   * @example
   * await client.apiKeys.create({
   *   name: 'Nightly import',
   *   scopes: [ 'time:read', 'time:write' ],
   *   expiresAt: '2036-01-01T00:00:00Z'
   * });
   */
  create(input: ApiKeysCreateInput, options?: CallOptions): Call<NewApiKey>;

  /**
   * One's own live API keys, without the keys themselves.
   *
   * The newest first, also those that have expired and were not revoked. What an OAuth client was
   * granted is a key too, with its `client`.
   *
   * REST: `GET /api/api-keys/`
   */
  list(options?: CallOptions): Call<{ keys: ApiKey[] }>;

  /**
   * The API key that calls, its employee and their company.
   *
   * For API keys, whatever their scopes: what a script needs to know of itself. A session knows it from
   * its login, and is answered 403 `FORBIDDEN`.
   *
   * REST: `GET /api/api-keys/current/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  getCurrent(options?: CallOptions): Call<CurrentApiKey>;

  /**
   * Revoke an API key.
   *
   * One’s own; an admin any of the company. It is refused from then on, on every node, and the sessions
   * that it opened end.
   *
   * REST: `DELETE /api/api-keys/{key_id}/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND
   */
  revoke(input: { key_id: number }, options?: WriteOptions): Call<{ success: true }>;
}

export interface OauthOperations {
  /**
   * Let an OAuth client act as oneself.
   *
   * What the page at /oauth/authorize calls when a person consents. The answer is where to send them:
   * the redirect URI of the client with a code, good for a minute, that the client exchanges at POST
   * /oauth/token. What it gets is an API key of the person, with these scopes at most, for /mcp alone;
   * it is listed and revoked as other keys are. The account is told of it by mail. [A
   * guide](/docs/guides/oauth) describes the whole.
   *
   * REST: `POST /api/oauth/authorizations/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND, ADMIN_REQUIRED
   * @example
   * await client.oauth.authorizeClient({
   *   client_id: 'wmsc_4zLFr0cDhiS0rIUjCBQTbA',
   *   redirect_uri: 'http://127.0.0.1:8765/callback',
   *   code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
   *   code_challenge_method: 'S256',
   *   scopes: [ 'time:read', 'time:write' ],
   *   state: 'af0ifjsldkj'
   * });
   */
  authorizeClient(input: OauthAuthorizeClientInput, options?: CallOptions): Call<OauthAuthorizeClientAnswer>;
}

export interface CompanyOperations {
  /**
   * Company profile, latest payment, active subscriptions and all plans.
   *
   * Any employee of the company may see it. `latestPayment` is the latest one with status `paid`.
   * `subscriptions` are those in trial, active or past due whose end has not passed. The current plan is
   * that of the highest active subscription; `change` of each plan is relative to it.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /company/{company_id}/details/`
   *
   * @example
   * await client.company.get({ company_id: 42 });
   */
  get(input?: { company_id?: number }, options?: CallOptions): Call<CompanyGetAnswer>;

  /**
   * Change the name or the time zone of the company.
   *
   * For admins. Either field may be left out and keeps its value then; without both nothing changes. The
   * time zone is an IANA name: days and weeks of the company are counted in it, and all earlier ones are
   * recomputed before the answer; time that is logged during that waits. Changes of the time zone are
   * made one after another; with four of a company waiting, a further one is answered 503. Offsets and
   * POSIX rules are refused. All other employees are notified of what has changed.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `PUT /company/{company_id}/update/`
   *
   * @throws {ApiError} OVERLOADED
   * @example
   * await client.company.update({ company_id: 42, name: 'Analytical Engines', timezone: 'Europe/London'
   * });
   */
  update(input?: CompanyUpdateInput, options?: WriteOptions): Call<Company>;

  /**
   * Close the company.
   *
   * For its owner, in a session of their own; `name` repeats the name of the company. For 30 days, until
   * `closesAt`, everybody can sign in, and everything can be read and exported (POST `/api/exports/`),
   * but nothing changed: other operations are answered 409 `COMPANY_CLOSED`. Running timers stop and
   * their time is logged, and reminders stay quiet. All admins who have accepted their invitation are
   * told by mail, and once more three days before the end. POST `/api/company/{company_id}/reopen/`
   * takes it back. After that the company is removed with everything in it, and so are the accounts of
   * people who are in no other company. Closing a closed company changes nothing.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `POST /api/company/{company_id}/close/`
   *
   * @throws {ApiError} OWNER_REQUIRED, SESSION_REQUIRED, SESSION_BOUND
   * @example
   * await client.company.close({ company_id: 42, name: 'Analytical Engines' });
   */
  close(input: { company_id?: number; name: string }, options?: WriteOptions): Call<CompanyCloseAnswer>;

  /**
   * Take the closing of the company back.
   *
   * For its owner, in a session of their own, until `closesAt`. Everything is as it was, except that
   * timers have stopped. Reopening a company that is open changes nothing.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `POST /api/company/{company_id}/reopen/`
   *
   * @throws {ApiError} OWNER_REQUIRED, SESSION_REQUIRED, SESSION_BOUND
   * @example
   * await client.company.reopen({ company_id: 42 });
   */
  reopen(input?: { company_id?: number }, options?: WriteOptions): Call<Company>;
}

export interface EmployeesOperations {
  /**
   * Add an employee and invite them.
   *
   * `companyId` is the caller's own company. The employee is active at once: tasks can be theirs and
   * leaders can log time for them. Their address is invited by e-mail, and only its owner joins an
   * account to the employee (`invitationStatus` is `pending` until then): somebody new by signing in
   * with an e-mailed code, Google or Apple, somebody who is in other companies by naming `company_id`
   * there or with POST /api/invitations/{invitation_id}/accept/. One company mails at most 3 invitations
   * a day to one address, and 200 a day in all until it pays for a plan; an invitation beyond that is
   * made, but not mailed. An address is one employee of a company at most, deleted ones included:
   * restore those instead. A plan has places for as many active employees as its `maxEmployees` says.
   *
   * `companyId`: the company of the session unless given.
   *
   * REST: `POST /employee/add/`
   *
   * @throws {ApiError} EMPLOYEE_EXISTS, PLAN_LIMIT_REACHED
   * @example
   * await client.employees.create({
   *   first_name: 'Grace',
   *   last_name: 'Hopper',
   *   email: 'grace@example.com',
   *   phone: '+1 202 555 0143',
   *   designation: 'Engineer',
   *   companyId: 1,
   *   salary: 52000
   * });
   */
  create(input: EmployeesCreateInput, options?: WriteOptions): Call<Employee>;

  /**
   * All employees of the company.
   *
   * Active, inactive and deleted ones, alphabetical by name.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /employee/list/{company_id}/`
   *
   * @example
   * await client.employees.list({ company_id: 1 });
   */
  list(input?: { company_id?: number }, options?: CallOptions): Call<{ employees: Employee[] }>;

  /**
   * Active employees of the company.
   *
   * Those with `isActive: true` and `isDeleted: false`, alphabetical by name without regard to case and
   * accents, and the deleted ones, by `_id` and `name` only.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /employee/list/activeUsers/{company_id}/`
   *
   * @example
   * await client.employees.listActive({ company_id: 1 });
   */
  listActive(input?: { company_id?: number }, options?: CallOptions): Call<EmployeesListActiveAnswer>;

  /**
   * Inactive employees of the company.
   *
   * Those with `isActive: false`, deleted or not, alphabetical by name.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /employee/list/InactiveUsers/{company_id}/`
   *
   * @example
   * await client.employees.listInactive({ company_id: 1 });
   */
  listInactive(input?: { company_id?: number }, options?: CallOptions): Call<{ employees: Employee[] }>;

  /**
   * Read one employee.
   *
   * Anybody of the company may read anybody of it, inactive and deleted ones too. `salary` is `null`
   * unless the caller is an admin or reads their own record.
   *
   * REST: `GET /employee/me/{employee_id}/`
   *
   * @example
   * await client.employees.get({ employee_id: 42 });
   */
  get(input: { employee_id: number }, options?: CallOptions): Call<Employee>;

  /**
   * Change an employee.
   *
   * Any subset of the fields; what is left out stays, `null` clears.
   *
   * - **Profile** (`first_name`, `last_name`, `name`, `phone`, `date_of_birth`, `date_of_joining`,
   * `gender`, `country_code`): the employee themself or an admin. A `name` that is set by itself stays
   * until `null` brings "first last" back.
   * - **Standing** (`email`, `designation`, `salary`, `isAdmin`, `isTeamLeader`, `is_active`): admins
   * only, on themselves too.
   * - `is_active: false` ends every session and API key of the employee; their running timer stops at
   * that moment and its time is logged. The last active admin can be neither demoted nor deactivated. A
   * deleted employee becomes active by being restored.
   * - `isAdmin: false` ends the sessions that the API keys of the employee opened for others.
   * - `email`: the new address is invited (`invitationStatus: "pending"`), and only its owner can
   * accept. Sessions and API keys of the employee end, and their notification preferences are deleted.
   * The account that had accepted keeps its password, identities and other companies, is told by mail,
   * and has no way back in. Sending the address of somebody who has not accepted yet invites them again.
   * Somebody who is inactive or deleted is mailed the invitation when they are active again.
   *
   * REST: `PATCH /api/employees/{_id}/`
   *
   * @throws {ApiError} FORBIDDEN, ADMIN_REQUIRED, SESSION_BOUND, EMPLOYEE_EXISTS, EMPLOYEE_DELETED,
   * EMPLOYEE_ERASED, LAST_ADMIN, PLAN_LIMIT_REACHED
   * @example
   * await client.employees.update({
   *   _id: 42,
   *   phone: '+44 20 7946 0958',
   *   designation: 'Lead engineer',
   *   isTeamLeader: true
   * });
   */
  update(input: EmployeesUpdateInput, options?: WriteOptions): Call<Employee>;

  /**
   * Set the profile picture.
   *
   * The employee themself or an admin. `profilePicture` is a PNG, JPEG, WebP or GIF in base64, with or
   * without a `data:` prefix, of at most 16,384 pixels on each side and 50 megapixels (25 with 16 bits a
   * channel and transparency); its content decides what it is. The body has at most 4 MiB, so the file
   * about 3. It is kept as WebP of at most 512x512 pixels, without metadata, and of an animation the
   * first frame. Pictures are decoded one by one, and companies take turns: with too many on their way
   * the answer is 503, and a moment later it works. `null` removes the picture; without the field
   * nothing changes. The answer carries the URL from which it is served, to anybody who knows that URL;
   * it changes with each picture.
   *
   * REST: `PATCH /employee/update-picture/{_id}/`
   *
   * @throws {ApiError} FORBIDDEN, OVERLOADED, EMPLOYEE_ERASED
   * @example
   * await client.employees.updatePicture({
   *   _id: 42,
   *   profilePicture: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
   * });
   */
  updatePicture(input: { _id: number; profilePicture?: Upload | null }, options?: WriteOptions): Call<Employee>;

  /**
   * Search employees by name, e-mail or designation.
   *
   * Every word of `q` must occur in the name, the address or the designation: anywhere in it, or at the
   * beginning of a word where it has one or two letters; Chinese, Japanese, Korean and other scripts
   * without spaces match anywhere. Case and accents do not count. At most 50, active and inactive but
   * not deleted, the best match first: the very name, names that begin with `q`, words that do, other
   * places; within these by name.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /employees/search/{company_id}/`
   *
   * @example
   * await client.employees.search({ company_id: 1, q: 'grace hop' });
   */
  search(input: { company_id?: number; q: string }, options?: CallOptions): Call<{ employees: Employee[] }>;

  /**
   * Delete an employee.
   *
   * Marks the employee as deleted and inactive and ends their sessions and API keys at once; a running
   * timer stops at that moment and its time is logged. Nothing of their work is lost, and they can be
   * restored. Deleting a deleted employee changes nothing. The last active admin cannot be deleted.
   *
   * REST: `DELETE /api/employees/{_id}/`
   *
   * @throws {ApiError} LAST_ADMIN
   * @example
   * await client.employees.delete({ _id: 42 });
   */
  delete(input: { _id: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Take the deletion of an employee back.
   *
   * The employee is active again, with the permissions and the work that they had, and has to sign in
   * again. An invitation that was not mailed before is mailed now. Restoring an employee who is not
   * deleted changes nothing, and one who was erased cannot be restored.
   *
   * REST: `POST /api/employees/{_id}/restore/`
   *
   * @throws {ApiError} PLAN_LIMIT_REACHED, EMPLOYEE_ERASED
   * @example
   * await client.employees.restore({ _id: 42 });
   */
  restore(input: { _id: number }, options?: WriteOptions): Call<Employee>;

  /**
   * Erase a person.
   *
   * For good: it cannot be taken back. The employee becomes "Former employee" with their number,
   * deleted, with an address that receives no mail; phone, salary, birthday, picture and the rest are
   * gone, and so are their sessions, API keys, invitations, preferences and notifications, and their
   * account, if no other company uses it. A running timer stops and its time is logged. Exports of the
   * company are deleted, since the person is in them. Logs, tasks, periods, amounts and all totals stay,
   * and so do the texts that they wrote about work. Within seconds, a job replaces their name and
   * address in comments and notifications of others, in events and in messages of webhooks, and erases
   * their values and networks from the audit log. [A guide](/docs/guides/personal-data) has the whole
   * list. Erasing an erased employee changes nothing. The last active admin and the owner of the company
   * cannot be erased.
   *
   * REST: `POST /api/employees/{_id}/erase/`
   *
   * @throws {ApiError} LAST_ADMIN, OWNER_NOT_ERASED, SESSION_REQUIRED, SESSION_BOUND
   * @example
   * await client.employees.erase({ _id: 42 });
   */
  erase(input: { _id: number }, options?: WriteOptions): Call<Employee>;

  /**
   * The sessions and API keys of an employee.
   *
   * The live ones in this company, the newest first; what the employee’s account has elsewhere is not
   * the company’s. Keys are shown without themselves.
   *
   * REST: `GET /api/employees/{_id}/access/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND
   */
  getAccess(input: { _id: number }, options?: CallOptions): Call<EmployeesGetAccessAnswer>;

  /**
   * End the sessions of an employee.
   *
   * All of them in this company, at once and on every node; `ended` says how many were live. Sessions of
   * the employee’s account in other companies go on, and the employee can sign in again.
   *
   * REST: `DELETE /api/employees/{_id}/sessions/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND
   */
  endSessions(input: { _id: number }, options?: WriteOptions): Call<{ ended: number }>;

  /**
   * End the API keys of an employee.
   *
   * All that the employee made in this company, and the sessions that those keys opened, at once and on
   * every node; `ended` says how many keys were live.
   *
   * REST: `DELETE /api/employees/{_id}/api-keys/`
   *
   * @throws {ApiError} SESSION_REQUIRED, SESSION_BOUND
   */
  endApiKeys(input: { _id: number }, options?: WriteOptions): Call<{ ended: number }>;
}

export interface InvitationsOperations {
  /**
   * One's own open invitations.
   *
   * Of companies that added the address of the account and wait for its owner to accept, the oldest
   * first. An account whose address was never proved has none.
   *
   * REST: `GET /api/invitations/`
   */
  list(options?: CallOptions): Call<{ invitations: Invitation[] }>;

  /**
   * Accept an invitation.
   *
   * Joins the account to the company and answers a session there; the session that asked ends, as with a
   * change of company. It needs a proof of the address that is younger than the invitation: the `token`
   * in the link of the invitation mail, or a session that began with an e-mailed code, Google or Apple
   * after the invitation was made. A password alone is none. Where the account has no other company and
   * one invitation, signing in with such a proof accepts it without this operation; naming `company_id`
   * at such a sign-in accepts too.
   *
   * REST: `POST /api/invitations/{invitation_id}/accept/`
   *
   * @throws {ApiError} ADDRESS_PROOF_REQUIRED
   * @example
   * await client.invitations.accept({ invitation_id: 7, token: 'q3Zt0k8Yb1…' });
   */
  accept(input: InvitationsAcceptInput, options?: CallOptions): Call<SignedInResult>;

  /**
   * Decline an invitation.
   *
   * It cannot be accepted any more. The company keeps its employee, without an account, and can invite
   * again.
   *
   * REST: `POST /api/invitations/{invitation_id}/decline/`
   *
   * @example
   * await client.invitations.decline({ invitation_id: 7 });
   */
  decline(input: { invitation_id: number }, options?: WriteOptions): Call<{ success: true }>;
}

export interface ProjectsOperations {
  /**
   * Start a project.
   *
   * Any employee may start one. The owner is the caller unless `owner_id` names another active employee
   * of the company. A new project is `active`; without `allocatedHours` its time is not limited. A
   * `budget` is set by admins.
   *
   * REST: `POST /api/projects/`
   *
   * @throws {ApiError} ADMIN_REQUIRED
   * @example
   * await client.projects.create({ name: 'Difference Engine', description: 'Second design',
   * allocatedHours: 120 });
   */
  create(input: ProjectsCreateInput, options?: WriteOptions): Call<Project>;

  /**
   * Projects of the company, the newest first.
   *
   * Deleted projects are left out. The filters narrow the list together; `q` is looked for anywhere in
   * the name, without regard to case. 20 a page; a page past the end is an empty one.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/projects/company/{company_id}/`
   */
  list(input?: ProjectsListInput, options?: CallOptions): Paged<Project>;

  /**
   * One project of the company.
   *
   * REST: `GET /api/projects/{project_id}/`
   */
  get(input: { project_id: number }, options?: CallOptions): Call<Project>;

  /**
   * Change a project.
   *
   * For its owner, team leaders and admins. Fields left out keep their values. Lowering `allocatedHours`
   * below what is logged crosses the allocation and notifies the admins; raising it to at least what is
   * logged, or lifting it with `null`, arms that notification again; `budget` does the same for money,
   * and is set by admins. A new owner other than the caller is notified. An owner who has been
   * deactivated may stay, but not become one.
   *
   * REST: `PATCH /api/projects/{project_id}/`
   *
   * @throws {ApiError} FORBIDDEN, ADMIN_REQUIRED
   * @example
   * await client.projects.update({ project_id: 7, allocatedHours: 160, status: 'on_hold' });
   */
  update(input: ProjectsUpdateInput, options?: WriteOptions): Call<Project>;

  /**
   * Delete a project with its tasks.
   *
   * For its owner, team leaders and admins. The project and its tasks are not found from then on; the
   * time that people logged on them stays in their totals and in their periods, so locked days do not
   * stand against it.
   *
   * REST: `DELETE /api/projects/{project_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.projects.delete({ project_id: 7 });
   */
  delete(input: { project_id: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Projects of the company.
   *
   * Projects that anyone creates, changes or deletes, without their logged hours. What happens in a
   * project is sent by `tasks.onProject`.
   */
  onCompany(input?: ProjectsOnCompanyInput, options?: StreamOptions): EventStream<ProjectsOnCompanyEvent>;
}

export interface TasksOperations {
  /**
   * Add a task to a project.
   *
   * Any employee may add one. The owner is the caller unless `owner_id` names another active employee of
   * the company; a new task is `todo` unless `status` says otherwise. Owner and collaborators other than
   * the caller are notified.
   *
   * REST: `POST /api/tasks/`
   *
   * @example
   * await client.tasks.create({
   *   projectId: 7,
   *   title: 'Cut the gears',
   *   collaboratorIds: [ 42 ],
   *   dueDate: '2026-03-31',
   *   estimatedHours: 6
   * });
   */
  create(input: TasksCreateInput, options?: WriteOptions): Call<Task>;

  /**
   * Tasks of the company, the newest first.
   *
   * Deleted tasks and those of deleted projects are left out. The filters narrow the list together; `q`
   * is looked for anywhere in the title, without regard to case, and where it has no three letters in a
   * row in the newest 20,000 tasks. 20 a page; a page past the end is an empty one. Matches of `q` and
   * `dueBy` are counted up to 1,000 (`isTotalCapped`), and pages of them by number end at 100: `cursor`,
   * the `nextCursor` of the page before, leads to the end of any list at the same cost a page.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/tasks/company/{company_id}/`
   */
  list(input?: TasksListInput, options?: CallOptions): Paged<Task, TasksListAnswer>;

  /**
   * One task of the company.
   *
   * REST: `GET /api/tasks/{task_id}/`
   */
  get(input: { task_id: number }, options?: CallOptions): Call<Task>;

  /**
   * Change a task.
   *
   * Any employee may, but for `owner_id` and `projectId`: only its owner, the owner of the project that
   * it is in, team leaders and admins hand a task over or move it, and they may move it into any project
   * of the company, as anyone may add a task there. Fields left out keep their values; `collaboratorIds`
   * replaces them all. Becoming `done` sets `completedAt`, leaving it clears that. A task that moves to
   * another project takes its logged time along, which may cross that project’s allocation; one with
   * time on locked days does not move (409 `PERIOD_LOCKED`). A new owner and new collaborators other
   * than the caller are notified. An owner or collaborator who has been deactivated may stay, but not
   * become one.
   *
   * REST: `PATCH /api/tasks/{task_id}/`
   *
   * @throws {ApiError} FORBIDDEN, PERIOD_LOCKED
   * @example
   * await client.tasks.update({ task_id: 12, status: 'done' });
   */
  update(input: TasksUpdateInput, options?: WriteOptions): Call<Task>;

  /**
   * Delete a task.
   *
   * For its owner, the owner of its project, team leaders and admins. The task is not found from then
   * on; the time logged on it stays in the totals of its project, of the people who logged it, and of
   * their periods, so locked days do not stand against it.
   *
   * REST: `DELETE /api/tasks/{task_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.tasks.delete({ task_id: 12 });
   */
  delete(input: { task_id: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Tasks of a project and the time logged on them.
   *
   * Tasks and task logs that anyone creates, changes or deletes, the subscriber included, each with the
   * record and what has changed. A task that moves to another project is an event of both, and takes its
   * logs along without an event for each; a deleted task takes its logs along as well. An import of a
   * file is one event, `project.imported`, without the tasks and logs: read them again. When the project
   * is deleted, the subscription sends `project.deleted` and ends with NOT_FOUND.
   *
   * @throws {ApiError} NOT_FOUND
   */
  onProject(input: TasksOnProjectInput, options?: StreamOptions): EventStream<TasksOnProjectEvent>;
}

export interface TaskLogsOperations {
  /**
   * Log time on a task.
   *
   * Written by the employee whose time it is, a team leader or an admin, for an active employee. It ends
   * after it starts, lasts at most 24 hours and is at most a day in the future. Milliseconds are kept.
   * It counts as entered by hand (`manualAdd: true`). Where it takes its project over the allocated
   * hours, every active admin is notified, once for each crossing. Days of a period that was handed in,
   * or that is too old, are locked: 409 `PERIOD_LOCKED` names them.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `POST /tasklog/create/`
   *
   * @throws {ApiError} DUPLICATE_TASK_LOG, FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED
   * @example
   * await client.taskLogs.create({
   *   task_id: 12,
   *   employee_id: 7,
   *   start_time: '2026-03-02T09:00:00Z',
   *   end_time: '2026-03-02T10:30:00Z',
   *   description: 'Wrote the first program'
   * });
   */
  create(input: TaskLogsCreateInput, options?: WriteOptions): Call<ChargedTaskLog>;

  /**
   * Log much time at once.
   *
   * The body is the array itself: 1 to 1,000 entries, all of one active employee. Written by that
   * employee, a team leader or an admin.
   *
   * An entry with the task, employee and start of a stored log, or of an earlier entry, is skipped and
   * reported in `skipped`. Where one entry is invalid, nothing is stored, and `issues` names each that
   * is by its index, as in `[2, "endTime"]`. `created` is in the order of the entries.
   *
   * `days` holds each day that an entry touches, also one that was skipped, in the time zone of the
   * company: the employee’s working hours of the whole day, whatever they were logged by, to two
   * decimals. Logs across midnight are split, and no minute counts twice. `exceededProjects` are those
   * of the entries’ projects that have more hours logged now than allocated; where this request crosses
   * an allocation, every active admin is notified, once for each crossing.
   *
   * Where an entry is on a locked day, nothing is stored: 409 `PERIOD_LOCKED`, and `issues` names each
   * such entry by its index.
   *
   * REST: `POST /tasklogs/bulk/create/{user_id}/`
   *
   * @throws {ApiError} FORBIDDEN, PERIOD_LOCKED
   * @example
   * await client.taskLogs.bulkCreate({
   *   user_id: 7,
   *   entries: [
   *     {
   *       taskId: 12,
   *       userId: 7,
   *       startTime: '2026-03-02T09:00:00Z',
   *       endTime: '2026-03-02T12:15:00Z'
   *     },
   *     {
   *       taskId: 12,
   *       userId: 7,
   *       startTime: '2026-03-02T13:00:00Z',
   *       endTime: '2026-03-02T17:30:00Z',
   *       description: 'Cut the gears',
   *       manualAdd: false
   *     }
   *   ]
   * });
   */
  bulkCreate(input: TaskLogsBulkCreateInput, options?: WriteOptions): Call<TaskLogsBulkCreateAnswer>;

  /**
   * All logs of a task, the newest start first.
   *
   * Read by any active employee of the company. All logs are answered, however many there are: a long
   * answer is sent while it is read, with the logs of the moment when it began. `totalSeconds` is the
   * sum of the logs in the answer.
   *
   * REST: `GET /taskLogs/task/{taskId}/`
   */
  listByTask(input: { taskId: number }, options?: CallOptions): Call<{ taskLogs: ChargedTaskLog[]; totalSeconds: number }>;

  /**
   * Change a task log.
   *
   * Each field is optional, and what is absent stays; where none has another value nothing changes. The
   * caller must be allowed to write both for the employee whose time it was and for the one whose time
   * it becomes. A changed log counts as entered by hand from then on (`manualAdd: true`). A log that
   * moves to another task, person or project takes its time along. Its rate stays, unless its task,
   * person, project or day changes, or whether it is billable. The logs of a deleted task are gone with
   * it. Neither the days of before nor those of after may be locked: 409 `PERIOD_LOCKED` names them.
   *
   * REST: `PUT /tasklogs/{taskLogId}/`
   *
   * @throws {ApiError} DUPLICATE_TASK_LOG, FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED
   * @example
   * await client.taskLogs.update({
   *   taskLogId: 31,
   *   endTime: '2026-03-02T11:00:00Z',
   *   description: 'Wrote and proved the first program'
   * });
   */
  update(input: TaskLogsUpdateInput, options?: WriteOptions): Call<ChargedTaskLog>;

  /**
   * Delete a task log.
   *
   * By the employee whose time it is, a team leader or an admin. Its time leaves every total; a project
   * that then no longer exceeds its allocated hours notifies its admins again when it does. A log of a
   * locked day stays: 409 `PERIOD_LOCKED` names it. The body is optional.
   *
   * REST: `DELETE /api/tasklogs/delete/{pk}/`
   *
   * @throws {ApiError} FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED
   * @example
   * await client.taskLogs.delete({ pk: 42, override: false });
   */
  delete(input: TaskLogsDeleteInput, options?: WriteOptions): Call<{ success: true }>;
}

export interface CsvImportsOperations {
  /**
   * Import time and tasks from a CSV file.
   *
   * For admins. Takes a detailed report of Toggl Track or Clockify (time on tasks), issues of Jira
   * (tasks and the work logged on them) or a board of Trello (tasks), at most 8 MiB as JSON and 20,000
   * rows, as [a guide](/docs/guides/csv-imports) describes. Projects and tasks that are not there by
   * name are created; people never are. With `dry_run` it answers what would be done, and changes
   * nothing.
   *
   * Where rows have errors, nothing is stored, and `issues` names the first 100 by line and column: 400,
   * or 409 `PERIOD_LOCKED` where locked days are all that is wrong. With `skip_errors` the other rows
   * are imported. All is stored at once or nothing is.
   *
   * The same file can be imported again: rows that were imported are skipped, as long as the task or log
   * that they became exists.
   *
   * REST: `POST /api/imports/csv/`
   *
   * @throws {ApiError} DUPLICATE_TASK_LOG, OVERLOADED, PERIOD_LOCKED
   * @example
   * await client.csvImports.run({
   *   source: 'trello',
   *   csv: 'Card ID,Card Name,Card Description,Members,Due Date,List Name,Board Name,Archived\r\n' +
   *     '64a1f0c2,Cut the gears,Brass,,2026-03-31T16:00:00.000Z,Doing,Clockwork,false\r\n',
   *   time_zone: 'Europe/London',
   *   date_order: 'YMD',
   *   dry_run: false
   * });
   */
  run(input: CsvImportsRunInput, options?: WriteOptions): Call<CsvImportReport>;
}

export interface TimersOperations {
  /**
   * Start one’s timer on a task.
   *
   * Everybody has one timer. One that is left running is closed at 24 hours: then a task log of 24 hours
   * is made whose description ends with “Closed automatically after 24 hours.”, and its owner is
   * notified. None starts on a locked day (409 `PERIOD_LOCKED`). A timer that the service ends on a
   * locked day has no log, and its owner is notified of that.
   *
   * REST: `POST /api/tasklogs/timer/start/`
   *
   * @throws {ApiError} TIMER_RUNNING, PERIOD_LOCKED
   * @example
   * await client.timers.start({ taskId: 12, description: 'Cutting gears' });
   */
  start(input: { taskId: number; description?: string | null }, options?: WriteOptions): Call<Timer>;

  /**
   * Stop one’s timer.
   *
   * Makes a task log of it, with `manualAdd: false`: at least a second long and at most 24 hours, at
   * whose end a timer is closed, whenever it is stopped; the description then ends with “Closed
   * automatically after 24 hours.” `description` takes the place of the one that the timer was started
   * with. The time is kept also where the task was deleted. Where a day of it is locked, the timer goes
   * on (409 `PERIOD_LOCKED`); it can be discarded.
   *
   * REST: `POST /api/tasklogs/timer/stop/`
   *
   * @throws {ApiError} TIMER_NOT_RUNNING, PERIOD_LOCKED
   * @example
   * await client.timers.stop({ description: 'Cut four gears' });
   */
  stop(input?: { description?: string | null }, options?: WriteOptions): Call<ChargedTaskLog>;

  /**
   * End a timer without a log.
   *
   * For the employee, and for admins. Nothing is logged: for a timer that was started by mistake, or
   * that cannot be stopped because a day of it is locked.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `DELETE /api/tasklogs/timer/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN, TIMER_NOT_RUNNING
   */
  discard(input?: { employee_id?: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * The running timer of an employee.
   *
   * Or `{"timer": null}` where none runs. For the employee, team leaders and admins.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `GET /api/tasklogs/timer/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.timers.get({ employee_id: 7 });
   */
  get(input?: { employee_id?: number }, options?: CallOptions): Call<Timer | { timer: null }>;

  /**
   * One's own timer.
   *
   * It was started or stopped: on any device, or by the service after 24 hours. The task log of its time
   * is an event of its project.
   */
  onMine(input?: TimersOnMineInput, options?: StreamOptions): EventStream<TimerStarted | TimerStopped | StreamReset>;
}

export interface TimesheetsOperations {
  /**
   * Logged time of a range of days, as JSON, CSV, a workbook or pages to sign.
   *
   * Logs are cut at midnight in the company's time zone, and only their parts from `from` to `to` (both
   * included, at most 366 days) count; whatever the rows are, the total is the same. Rows are one for
   * each person and day, person and ISO week (a column for each day, in seconds), project, task, or
   * person; without time there is no row. Rows of people come alphabetically, then by day; projects
   * alphabetically; tasks by identifier. Time on deleted tasks and of former employees stays in. Admins
   * and team leaders see everybody, or one person by `userId`; others see themselves, with or without
   * it. `format=csv` answers a file with the same rows, and a last line that begins with `Total`: one
   * without that line broke off. It begins with a byte order mark, and text that a spreadsheet would run
   * as a formula is led by an apostrophe. `format=xlsx` answers a workbook with the same cells: numbers
   * are numbers, days are dates, and text is text whatever it begins with. `format=pdf` answers pages to
   * sign: one for each person and period of the company's time policy, cut to the range, with its
   * status, a line for each day (with `project` and `task` for each day and project or task), its total
   * in hours, and lines for the signatures of the employee and an approver; what does not fit goes on on
   * another page. A file is a row of the audit log. With `amounts=true`, for admins, rows say what their
   * time amounts to in each currency, and a file has a column for each currency; a log is charged in
   * whole minor units, and its parts add up to it. A long answer is sent while it is made, in every
   * format.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/timesheets/{company_id}/`
   *
   * @throws {ApiError} FORBIDDEN, ADMIN_REQUIRED
   * @example
   * await client.timesheets.get({
   *   company_id: 42,
   *   from: '2026-03-01',
   *   to: '2026-03-31',
   *   groupBy: 'week',
   *   format: 'json'
   * });
   */
  get(input: TimesheetsGetInput, options?: CallOptions): Call<Timesheet>;

  /** The same as `timesheets.get`, as a file (text/csv) that comes while it is made. */
  csv(input: TimesheetsGetInput, options?: CallOptions): Call<Download>;

  /**
   * The same as `timesheets.get`, as a file
   * (application/vnd.openxmlformats-officedocument.spreadsheetml.sheet) that comes while it is made.
   */
  xlsx(input: TimesheetsGetInput, options?: CallOptions): Call<Download>;

  /** The same as `timesheets.get`, as a file (application/pdf) that comes while it is made. */
  pdf(input: TimesheetsGetInput, options?: CallOptions): Call<Download>;
}

export interface TimePoliciesOperations {
  /**
   * How time is handed in and locked.
   *
   * For every employee. A company that has set nothing hands in weeks from Monday, needs no approval and
   * locks no day by its age. See [the guide](/docs/guides/time-periods).
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/time-policy/{company_id}/`
   */
  get(input?: { company_id?: number }, options?: CallOptions): Call<TimePolicy>;

  /**
   * Change how time is handed in and locked.
   *
   * For admins. Fields that are left out keep their values. It holds for all days from then on, also for
   * those before; periods that were handed in keep their days. A day is locked by its age when more than
   * `lockAfterDays` + `graceDays` days have passed since the last day of its period, in the time zone of
   * the company and by the clock of the database.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `PUT /api/time-policy/{company_id}/`
   *
   * @example
   * await client.timePolicies.update({
   *   period: 'week',
   *   weekStart: 'monday',
   *   graceDays: 3,
   *   approver: 'teamLeader',
   *   requireApproval: true
   * });
   */
  update(input?: TimePoliciesUpdateInput, options?: WriteOptions): Call<TimePolicy>;
}

export interface RatesOperations {
  /**
   * Hourly rates of the company.
   *
   * For admins. The newest first, 100 at a time; filters are combined, and each finds the rates that
   * name it.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/rates/{company_id}/`
   *
   * @example
   * await client.rates.list({ project_id: 7 });
   */
  list(input?: RatesListInput, options?: CallOptions): Paged<Rate, RatesListAnswer>;

  /**
   * Set an hourly rate.
   *
   * For admins. The rate of a task (`task_id`), of an employee on a project (`project_id` and
   * `employee_id`), of a project, of an employee, or of the company (none of them); the first of these
   * that is there on the day of a log is the rate of that log. One of the same subject and day is
   * replaced. New logs take it from then on; stored logs keep their rates until POST
   * `/api/tasklogs/apply-rates/` is called. See [the guide](/docs/guides/money).
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `PUT /api/rates/{company_id}/`
   *
   * @example
   * await client.rates.set({
   *   project_id: 7,
   *   validFrom: '2026-01-01',
   *   hourlyRate: { minorUnits: 9500, currency: 'EUR' }
   * });
   */
  set(input: RatesSetInput, options?: WriteOptions): Call<Rate>;

  /**
   * Delete an hourly rate.
   *
   * For admins. Stored logs keep their rates; to end a rate on a day, set one without amount from that
   * day on.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `DELETE /api/rates/{company_id}/{rate_id}/`
   */
  delete(input: RatesDeleteInput, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Give stored logs the rates of today.
   *
   * For admins. Finds the rate of each log that starts on a day from `from` to `to` (at most 366 days
   * and 20,000 logs), of the task, project and employee that are named, and stores it where it differs.
   * With `dryRun` it answers the same and changes nothing. Approved time keeps its rates: where a log of
   * an approved period would change, nothing does, and 409 `PERIOD_LOCKED` names its days, also with
   * `dryRun`. A log that is not billable has no rate.
   *
   * REST: `POST /api/tasklogs/apply-rates/`
   *
   * @throws {ApiError} PERIOD_LOCKED
   * @example
   * await client.rates.applyToLogs({ from: '2026-03-01', to: '2026-03-31', project_id: 7, dryRun: true
   * });
   */
  applyToLogs(input: RatesApplyToLogsInput, options?: WriteOptions): Call<RatesApplyToLogsAnswer>;
}

export interface TimesheetPeriodsOperations {
  /**
   * Hand in the time of a period.
   *
   * By the employee whose time it is, a team leader or an admin. `period_start` is the first day of a
   * week or month, as the time policy says, that has begun. From then on the days of the period are
   * locked. What is logged in it is kept by day and project. Where the policy requires approval,
   * approvers are notified; otherwise the period is approved at once. A period that was rejected or is
   * open again is handed in the same way.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `POST /api/timesheet-periods/submit/`
   *
   * @throws {ApiError} FORBIDDEN, PERIOD_SUBMITTED, PERIOD_TIMER_RUNNING
   * @example
   * await client.timesheetPeriods.submit({ employee_id: 7, period_start: '2026-01-05' });
   */
  submit(input: TimesheetPeriodsSubmitInput, options?: WriteOptions): Call<TimesheetPeriod>;

  /**
   * Take back a period that nobody has decided on.
   *
   * By the employee whose time it is, a team leader or an admin. The period is open again. One that was
   * approved is reopened by an admin.
   *
   * REST: `POST /api/timesheet-periods/withdraw/`
   *
   * @throws {ApiError} FORBIDDEN, PERIOD_NOT_SUBMITTED
   * @example
   * await client.timesheetPeriods.withdraw({ period_id: 5 });
   */
  withdraw(input: { period_id: number }, options?: WriteOptions): Call<TimesheetPeriod>;

  /**
   * Approve or reject periods.
   *
   * For team leaders and admins, or for admins alone, as the time policy says. Up to 500 periods at
   * once, with a result for each in the same order: one that is not waiting for a decision is left alone
   * (`not_submitted`), and so is one’s own (`own_time`), unless the caller is the only active admin. An
   * approved period keeps what is logged in it at that moment. A rejected one is no longer locked.
   * Employees are notified.
   *
   * REST: `POST /api/timesheet-periods/decide/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.timesheetPeriods.decide({ period_ids: [ 5 ], decision: 'approve', note: 'Thank you' });
   */
  decide(input: TimesheetPeriodsDecideInput, options?: WriteOptions): Call<TimesheetPeriodsDecideAnswer>;

  /**
   * Open a period again.
   *
   * For admins, whatever was decided. Its days are no longer locked by it, and it can be handed in
   * again. The reason is kept with the period and in the audit log. A period that is open stays as it
   * is.
   *
   * REST: `POST /api/timesheet-periods/reopen/`
   *
   * @example
   * await client.timesheetPeriods.reopen({ period_id: 5, reason: 'A day at the customer was missing' });
   */
  reopen(input: TimesheetPeriodsReopenInput, options?: WriteOptions): Call<TimesheetPeriod>;

  /**
   * Periods that were handed in.
   *
   * The latest first day first, 50 at a time. Filters are combined; `from` and `to` find periods with a
   * day in that range. Admins and team leaders see everybody’s; others see their own. A period that was
   * never handed in is not in the list: it is open.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/timesheet-periods/company/{company_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.timesheetPeriods.list({ status: 'submitted', from: '2026-01-01', to: '2026-12-31' });
   */
  list(input?: TimesheetPeriodsListInput, options?: CallOptions): Paged<TimesheetPeriod, TimesheetPeriodsListAnswer>;
}

export interface WorkingHoursOperations {
  /**
   * The working hours of an employee.
   *
   * For the employee, team leaders and admins. See [the guide](/docs/guides/time-periods).
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `GET /api/working-hours/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  list(input?: { employee_id?: number }, options?: CallOptions): Call<WorkingHours>;

  /**
   * Set the working hours of an employee from a day on.
   *
   * For admins. Sets the entry of the day `validFrom`, and answers all of them, at most 500. `minutes`
   * null deletes it: then the entry before holds, or without one the time policy. Balances follow at
   * once, also for days before today; periods that were handed in keep what was expected then. For an
   * employee who has left, set seven zeros from the day after their last one.
   *
   * REST: `PUT /api/working-hours/{employee_id}/`
   *
   * @example
   * await client.workingHours.set({
   *   employee_id: 42,
   *   validFrom: '2026-03-01',
   *   minutes: [
   *     360, 360, 360, 360,
   *       0,   0,   0
   *   ]
   * });
   */
  set(input: WorkingHoursSetInput, options?: WriteOptions): Call<WorkingHours>;
}

export interface HolidaysOperations {
  /**
   * The holidays of the company.
   *
   * For every employee. Those from `from` to `to`, both included, at most 366 days. See [the
   * guide](/docs/guides/time-periods).
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/holidays/{company_id}/`
   *
   * @example
   * await client.holidays.list({ from: '2026-01-01', to: '2026-12-31' });
   */
  list(input: HolidaysListInput, options?: CallOptions): Call<Holidays>;

  /**
   * Replace the holidays of a range of days.
   *
   * For admins. From `from` to `to`, both included, at most 366 days, the company has exactly the
   * holidays of the list afterwards; others stay. An empty list deletes those of the range. No work is
   * expected on a holiday, of anybody. Balances follow at once; periods that were handed in keep what
   * was expected then.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `PUT /api/holidays/{company_id}/`
   *
   * @example
   * await client.holidays.replace({
   *   from: '2026-03-01',
   *   to: '2026-03-31',
   *   holidays: [ { date: '2026-03-17', name: 'Saint Patrick’s Day' } ]
   * });
   */
  replace(input: HolidaysReplaceInput, options?: WriteOptions): Call<Holidays>;
}

export interface BalancesOperations {
  /**
   * Expected and worked time of an employee, by day.
   *
   * For the employee, team leaders and admins. All days from `from` to `to`, both included, at most 366,
   * in the time zone of the company. What is expected on a day is what the employee’s working hours say,
   * or without them the time policy; nothing on a holiday, and nothing before the `date_of_joining` of
   * the employee. Days to come count as the others. See [the guide](/docs/guides/time-periods).
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `GET /api/balances/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.balances.get({ from: '2026-03-01', to: '2026-03-31' });
   */
  get(input: BalancesGetInput, options?: CallOptions): Call<BalancesGetAnswer>;
}

export interface StatisticsOperations {
  /**
   * Figures of the company: projects, tasks, hours and employees.
   *
   * Days, weeks (from Monday) and months are those of the company’s time zone. Deleted projects and
   * tasks, and tasks of deleted projects, are left out; the time logged on them stays in `hours`, which
   * are the sums of the logs by their days, of everybody who ever worked here. `overdue` are tasks that
   * are not done and were due before today; `completedThisWeek` are done and became so this week.
   * Deleted employees are left out of `employees.total`, inactive ones of `employees.active`.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /task-statistics/{company_id}/`
   *
   * @example
   * await client.statistics.company({ company_id: 42 });
   */
  company(input?: { company_id?: number }, options?: CallOptions): Call<StatisticsCompanyAnswer>;

  /**
   * Performance figures of employees.
   *
   * Admins and team leaders see every active employee, alphabetical by name as people sort; others see
   * their own row alone. Days are those of the company’s time zone. Deleted tasks and those of deleted
   * projects are not counted; the time logged on them is.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/performance/{company_id}/`
   *
   * @example
   * await client.statistics.performance({ company_id: 42 });
   */
  performance(input?: { company_id?: number }, options?: CallOptions): Call<{ employees: EmployeePerformance[] }>;
}

export interface CommentsOperations {
  /**
   * All comments of a task, as threads.
   *
   * Oldest first on every level. Replies nest as deep as the discussion goes, down to level 500 of the
   * answer: deeper ones are siblings of the one they answer, and `reply_to` names it. A deleted comment
   * that has replies stays as a tombstone: `isDeleted: true`, `message: null`. All comments are
   * answered, however many there are: a long answer is sent while it is read, with the comments of its
   * start, each with its content at the time when it is sent. Reading marks the comments of others as
   * seen by the caller, after the answer: `seenBy` shows who had seen them before.
   *
   * REST: `GET /api/tasks/chat/{task_id}/`
   */
  listByTask(input: { task_id: number }, options?: CallOptions): Call<{ comments: Comment[] }>;

  /**
   * Write a comment on a task.
   *
   * `sender` is the caller. `message` is rich text, made safe before it is stored, or plain text with
   * `format: "text"`; with an `image` it may be empty or omitted. The mentioned people are those in
   * `mentionedEmails` (each an active employee of the company) and those whose address is in the text as
   * `@ada@example.com` (of the first 100 addresses; an unknown one stays plain text). Mentioned people
   * get a notification and a mail (to one address at most 20 mails an hour from one company, and 3 a day
   * while an invitation that was mailed is open); the task's owner and collaborators and the author of
   * the comment replied to get a notification; nobody is notified twice, or of their own comment.
   *
   * `sender`: the caller unless given.
   *
   * REST: `POST /api/task-chats/`
   *
   * @throws {ApiError} NOT_THE_SENDER
   * @example
   * await client.comments.create({
   *   taskId: 12,
   *   sender: 7,
   *   ClientSender: null,
   *   message: '<p>Ready for review, @grace@example.com</p>',
   *   mentionedEmails: [ 'alan@example.com' ],
   *   reply_to: null,
   *   image: null
   * });
   */
  create(input: CommentsCreateInput, options?: WriteOptions): Call<Comment>;

  /**
   * Edit one's own comment.
   *
   * Replaces the message and the mentions and sets `isEdited`. What is left out stays as it is; without
   * either nothing changes. `message` may be empty where the comment has an image. Only people who were
   * not mentioned before are notified, once for each comment.
   *
   * REST: `PATCH /api/edit-task-chats/{comment_id}/`
   *
   * @throws {ApiError} NOT_THE_AUTHOR
   * @example
   * await client.comments.update({
   *   comment_id: 42,
   *   message: '<p>Ready for review now, @grace@example.com</p>',
   *   mentionedEmails: []
   * });
   */
  update(input: CommentsUpdateInput, options?: WriteOptions): Call<Comment>;

  /**
   * Delete a comment.
   *
   * By its author or the owner of its task. With replies it stays as a tombstone (`isDeleted: true`,
   * `message: null`) until the last of them is deleted.
   *
   * REST: `DELETE /api/taskchat/{comment_id}/`
   *
   * @throws {ApiError} NOT_THE_AUTHOR_OR_OWNER
   */
  delete(input: { comment_id: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Like a comment.
   *
   * For oneself. Liking twice changes nothing. Its author and the task’s owner and collaborators get a
   * notification, once for each liker.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `POST /api/like-chat/{employee_id}/{comment_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  like(input: { employee_id?: number; comment_id: number }, options?: WriteOptions): Call<{ likeCount: number; likedByMe: boolean }>;

  /**
   * Take one’s like of a comment back.
   *
   * For oneself. Taking back what was not given changes nothing.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `POST /api/dislike-chat/{employee_id}/{comment_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  unlike(input: { employee_id?: number; comment_id: number }, options?: WriteOptions): Call<{ likeCount: number; likedByMe: boolean }>;

  /**
   * Comments on a task.
   *
   * Comments written, edited, deleted, liked and seen by anyone, the subscriber included. It ends with
   * NOT_FOUND when the task is deleted.
   *
   * @throws {ApiError} NOT_FOUND
   */
  onTask(input: CommentsOnTaskInput, options?: StreamOptions): EventStream<CommentsOnTaskEvent>;
}

export interface NotificationsOperations {
  /**
   * One's own notifications, filtered, the newest first.
   *
   * 10 a page; a page past the end is empty. A filter that is left out lets everything through, archived
   * ones included.
   *
   * `recipient_id`: the caller unless given.
   *
   * REST: `GET /notifications/recipient/{recipient_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  list(input?: NotificationsListInput, options?: CallOptions): Paged<Notification>;

  /**
   * How many of one's own notifications are unread.
   *
   * The same number as the total of the list with `read=false`.
   *
   * `user_id`: the caller unless given.
   *
   * REST: `GET /notifications/unread-count/{user_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  countUnread(input?: { user_id?: number }, options?: CallOptions): Call<{ unread: number }>;

  /**
   * Mark one of one's own notifications as read.
   *
   * Marking a read one changes nothing.
   *
   * REST: `PATCH /api/notifications/read/{notification_id}/`
   */
  read(input: { notification_id: number }, options?: WriteOptions): Call<Notification>;

  /**
   * Mark all of one's own notifications as read.
   *
   * `updated` is how many were unread.
   *
   * `user_id`: the caller unless given.
   *
   * REST: `POST /mark_notifications_as_read/{user_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  readAll(input?: { user_id?: number }, options?: WriteOptions): Call<{ updated: number }>;

  /**
   * Archive, keep for later, star or mark one of one's own notifications.
   *
   * Any of the four flags; without any nothing changes. One that changes is told to
   * `notifications.onMine` as `notification.updated`, once for all that changed.
   *
   * REST: `PATCH /api/notifications/{notification_id}/`
   *
   * @example
   * await client.notifications.update({ notification_id: 42, isArchive: true, starred: false });
   */
  update(input: NotificationsUpdateInput, options?: WriteOptions): Call<Notification>;

  /**
   * Delete some of one's own notifications.
   *
   * 1 to 1,000 identifiers. Those of others' notifications delete nothing and are not reported;
   * `deleted` counts what went.
   *
   * REST: `DELETE /notifications/delete/`
   *
   * @example
   * await client.notifications.delete({ notification_ids: [ 11, 12 ] });
   */
  delete(input: { notification_ids: number[] }, options?: WriteOptions): Call<{ deleted: number }>;

  /**
   * Delete all of one's own notifications.
   *
   * `user_id`: the caller unless given.
   *
   * REST: `DELETE /notifications/{user_id}/clear/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  clear(input?: { user_id?: number }, options?: WriteOptions): Call<{ deleted: number }>;

  /**
   * How one wants to be told, for each category.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `GET /api/notification-preferences/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   */
  getPreferences(input?: { employee_id?: number }, options?: CallOptions): Call<NotificationPreferences>;

  /**
   * Say how one wants to be told.
   *
   * Any of the categories; those left out stay as they are. Holds for what happens from now on.
   *
   * `employee_id`: the caller unless given.
   *
   * REST: `PUT /api/notification-preferences/{employee_id}/`
   *
   * @throws {ApiError} FORBIDDEN
   * @example
   * await client.notifications.updatePreferences({ message: { inApp: true, email: false } });
   */
  updatePreferences(input: NotificationPreferencesChange, options?: WriteOptions): Call<NotificationPreferences>;

  /**
   * What happens to one's own notifications.
   *
   * New, read, otherwise changed and deleted ones, each with the new unread count for a badge.
   */
  onMine(input?: NotificationsOnMineInput, options?: StreamOptions): EventStream<NotificationsOnMineEvent>;
}

export interface WebhooksOperations {
  /**
   * Have events of the company posted to a URL.
   *
   * From then on each event of the chosen types is posted there as JSON, signed as [Standard
   * Webhooks](https://www.standardwebhooks.com) describes, at least once and in no promised order. The
   * secret that signs is in this answer and never again. A company has at most 20 webhooks. The URL must
   * lead to public addresses; a name that is not known yet is accepted, and is checked at each attempt.
   *
   * REST: `POST /api/webhooks/`
   *
   * @throws {ApiError} WEBHOOK_LIMIT_REACHED
   * @example
   * await client.webhooks.create({
   *   url: 'https://hooks.example.com/work',
   *   events: [ 'comment.created', 'comment.edited' ],
   *   description: 'Comments in our chat'
   * });
   */
  create(input: WebhooksCreateInput, options?: CallOptions): Call<WebhookWithSecret>;

  /**
   * The company's webhooks, and the public keys of the service.
   *
   * The newest first. `publicKeys` check the signatures `v1a` of all messages of this service, where a
   * receiver should not hold a secret. While the operator rotates the keys there are several, and
   * messages are signed by each.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/webhooks/company/{company_id}/`
   */
  list(input?: { company_id?: number }, options?: CallOptions): Call<WebhooksListAnswer>;

  /**
   * One webhook of the company.
   *
   * REST: `GET /api/webhooks/{webhook_id}/`
   */
  get(input: { webhook_id: number }, options?: CallOptions): Call<Webhook>;

  /**
   * Change, disable or enable a webhook.
   *
   * Fields left out keep their values. A disabled one gets no messages, and nothing is kept for it of
   * what happens; what was pending before waits, and goes out when it is enabled again. Messages that
   * are pending go to a new URL.
   *
   * REST: `PATCH /api/webhooks/{webhook_id}/`
   *
   * @example
   * await client.webhooks.update({
   *   webhook_id: 42,
   *   description: 'Comments in the chat of the design team',
   *   isEnabled: true
   * });
   */
  update(input: WebhooksUpdateInput, options?: WriteOptions): Call<Webhook>;

  /**
   * Delete a webhook.
   *
   * Its messages and their attempts are deleted with it; one that is on its way may still arrive.
   *
   * REST: `DELETE /api/webhooks/{webhook_id}/`
   */
  delete(input: { webhook_id: number }, options?: WriteOptions): Call<{ success: true }>;

  /**
   * Give a webhook another secret.
   *
   * The new secret is in this answer and never again. For 24 hours both secrets sign, so that a receiver
   * can take the new one over; a second rotation in this time ends the oldest at once.
   *
   * REST: `POST /api/webhooks/{webhook_id}/rotate-secret/`
   */
  rotateSecret(input: { webhook_id: number }, options?: CallOptions): Call<WebhookWithSecret>;

  /**
   * Send a test message to a webhook.
   *
   * A message of the type `webhook.test`, whatever its events are, sent and retried as any other. The
   * answer says under which identifier; its deliveries show what came of it.
   *
   * REST: `POST /api/webhooks/{webhook_id}/test/`
   *
   * @throws {ApiError} WEBHOOK_DISABLED
   */
  test(input: { webhook_id: number }, options?: WriteOptions): Call<WebhookDelivery>;

  /**
   * Send again what a webhook has not taken.
   *
   * Messages of events since then that have failed for the last time are due again, with all attempts
   * before them, at most 10000 of them, the oldest first. Messages are kept for 30 days. What is pending
   * is not touched.
   *
   * REST: `POST /api/webhooks/{webhook_id}/recover/`
   *
   * @throws {ApiError} WEBHOOK_DISABLED
   * @example
   * await client.webhooks.recover({ webhook_id: 42, since: '2026-03-01T00:00:00Z' });
   */
  recover(input: WebhooksRecoverInput, options?: WriteOptions): Call<WebhooksRecoverAnswer>;

  /**
   * Messages for a webhook, and the attempts to deliver them.
   *
   * The newest first, 50 at a time: `nextCursor` is the `cursor` of those before, null after the last.
   * Messages and the last 20 attempts of each are kept for 30 days.
   *
   * REST: `GET /api/webhooks/{webhook_id}/deliveries/`
   *
   * @example
   * await client.webhooks.deliveries({ webhook_id: 42, cursor: '9007199254740991' });
   */
  deliveries(input: WebhooksDeliveriesInput, options?: CallOptions): Call<WebhooksDeliveriesAnswer>;

  /**
   * Send a message of a webhook again.
   *
   * Also one that was delivered. It goes out under the same `webhook-id`, now, and is retried as a new
   * one. One that is being sent at this moment is left alone.
   *
   * REST: `POST /api/webhook-deliveries/{delivery_id}/resend/`
   *
   * @throws {ApiError} WEBHOOK_DISABLED
   */
  resend(input: { delivery_id: number }, options?: WriteOptions): Call<WebhookDelivery>;
}

export interface AuditOperations {
  /**
   * The audit log of the company.
   *
   * Who changed what, and when: a row for each change, sign-in, failed sign-in, file that was taken, and
   * refused call; the newest first, 50 at a time. A row is there as soon as its change is. Filters are
   * combined. See [the guide](/docs/guides/audit) for what is not audited, and for what the log proves.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/audit/company/{company_id}/`
   *
   * @example
   * await client.audit.list({
   *   operation: 'tasks.update',
   *   from: '2026-03-01T00:00:00Z',
   *   to: '2026-04-01T00:00:00Z'
   * });
   */
  list(input?: AuditListInput, options?: CallOptions): Paged<AuditEntry, AuditListAnswer>;

  /**
   * The audit log of the company as a file.
   *
   * All rows that match the filters, the newest first: `format=jsonl` is a file with a row as JSON in
   * each line, `format=csv` one for spreadsheets, with `subject` as `task:12` and `changes` as JSON;
   * `json` the same as one list. The file is sent while it is made. That it was taken is a row of the
   * log itself.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/audit/company/{company_id}/export/`
   *
   * @example
   * await client.audit.export({ from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', format: 'json'
   * });
   */
  export(input?: AuditExportInput, options?: CallOptions): Call<{ results: AuditEntry[] }>;

  /** The same as `audit.export`, as a file (text/csv) that comes while it is made. */
  csv(input?: AuditExportInput, options?: CallOptions): Call<Download>;

  /** The same as `audit.export`, as a file (application/jsonl) that comes while it is made. */
  jsonl(input?: AuditExportInput, options?: CallOptions): Call<Download>;

  /**
   * Verify the audit log of the company.
   *
   * Recomputes the seals of the log, oldest first, and names the first row that was changed, removed or
   * inserted after it was sealed. A call checks about 50,000 rows; `next` tells where to go on. With
   * `knownSeal` and `knownHash`, both from an earlier answer, it also finds out whether the log was cut
   * off or replaced since.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/audit/company/{company_id}/verify/`
   */
  verify(input?: AuditVerifyInput, options?: CallOptions): Call<AuditVerdict>;
}

export interface ExportsOperations {
  /**
   * Make a file with all data of the company, or of one person.
   *
   * Without `userId` the file has everything that belongs to the company and can be imported into
   * another installation; with it, what concerns this employee. It is a ZIP archive with a file of JSON
   * Lines for each table and a `manifest.json`, read from one snapshot, without passwords, keys and
   * other secrets; [a guide](/docs/guides/exports) describes it. It is made in the background: read the
   * export until its state is `finished`, and get the file from its `url` within 24 hours. A company
   * makes one at a time, and has five at most.
   *
   * REST: `POST /api/exports/`
   *
   * @throws {ApiError} EXPORT_IN_PROGRESS, EXPORT_LIMIT_REACHED
   * @example
   * await client.exports.create({ userId: null });
   */
  create(input?: ExportsCreateInput, options?: WriteOptions): Call<Export>;

  /**
   * The company's exports.
   *
   * Those that have not expired, the newest first.
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/exports/company/{company_id}/`
   */
  list(input?: { company_id?: number }, options?: CallOptions): Call<ExportsListAnswer>;

  /**
   * How an export stands, and where its file is.
   *
   * REST: `GET /api/exports/{export_id}/`
   */
  get(input: ExportsGetInput, options?: CallOptions): Call<Export>;

  /**
   * Delete an export and its file.
   *
   * Its address stops working at once. One that is not finished is given up.
   *
   * REST: `DELETE /api/exports/{export_id}/`
   */
  delete(input: ExportsDeleteInput, options?: WriteOptions): Call<{ success: true }>;
}

export interface SearchOperations {
  /**
   * Search tasks, projects, comments and people.
   *
   * The best matches first. Every word of `q` must begin a word of the title or the text, without regard
   * to case and accents; Chinese, Japanese, Korean and other scripts without spaces match anywhere.
   * Where fewer than ten things match, words of four letters or more may have one slip. The newest 200
   * matches of each kind are ranked, and the newest 200 in titles. Deleted things and people are not
   * found. `cursor` is the `nextCursor` of the page before; what is added after the first page is not on
   * later ones. See [the guide](/docs/guides/search).
   *
   * `company_id`: the company of the session unless given.
   *
   * REST: `GET /api/search/company/{company_id}/`
   *
   * @example
   * await client.search.company({ q: 'gear draw', kind: 'task,comment' });
   */
  company(input: SearchCompanyInput, options?: CallOptions): Paged<SearchResult, SearchCompanyAnswer>;
}

/** Every operation and every stream of events, by section. */
export interface Operations {
  readonly auth: AuthOperations;
  readonly registration: RegistrationOperations;
  readonly passwords: PasswordsOperations;
  readonly sessions: SessionsOperations;
  readonly apiKeys: ApiKeysOperations;
  readonly oauth: OauthOperations;
  readonly company: CompanyOperations;
  readonly employees: EmployeesOperations;
  readonly invitations: InvitationsOperations;
  readonly projects: ProjectsOperations;
  readonly tasks: TasksOperations;
  readonly taskLogs: TaskLogsOperations;
  readonly csvImports: CsvImportsOperations;
  readonly timers: TimersOperations;
  readonly timesheets: TimesheetsOperations;
  readonly timePolicies: TimePoliciesOperations;
  readonly rates: RatesOperations;
  readonly timesheetPeriods: TimesheetPeriodsOperations;
  readonly workingHours: WorkingHoursOperations;
  readonly holidays: HolidaysOperations;
  readonly balances: BalancesOperations;
  readonly statistics: StatisticsOperations;
  readonly comments: CommentsOperations;
  readonly notifications: NotificationsOperations;
  readonly webhooks: WebhooksOperations;
  readonly audit: AuditOperations;
  readonly exports: ExportsOperations;
  readonly search: SearchOperations;
}

/** The input and answer of each operation, by its name. */
export interface OperationTypes {
  'auth.login': { input: AuthLoginInput; answer: SignedInResult | CompanyChoice };
  'auth.googleLogin': { input: AuthGoogleLoginInput; answer: SignedInResult | CompanyChoice };
  'auth.appleLogin': { input: AuthAppleLoginInput; answer: SignedInResult | CompanyChoice };
  'auth.verifyEmail': { input: AuthVerifyEmailInput; answer: { success: true } };
  'auth.otpLogin': { input: AuthOtpLoginInput; answer: SignedInResult | CompanyChoice };
  'auth.tokenLogin': { input: AuthTokenLoginInput; answer: SignedInResult };
  'auth.refresh': { input: { refresh_token: string }; answer: AuthRefreshAnswer };
  'auth.logout': { input: undefined; answer: { success: true } };
  'registration.requestCode': { input: RegistrationRequestCodeInput; answer: { success: true } };
  'registration.registerCompany': { input: RegistrationRegisterCompanyInput; answer: RegistrationResult };
  'passwords.requestReset': { input: PasswordsRequestResetInput; answer: { success: true } };
  'passwords.reset': { input: PasswordsResetInput; answer: { success: true } };
  'passwords.change': { input: PasswordsChangeInput; answer: { success: true } };
  'sessions.list': { input: undefined; answer: { sessions: Session[] } };
  'sessions.end': { input: { session_id: number }; answer: { success: true } };
  'apiKeys.create': { input: ApiKeysCreateInput; answer: NewApiKey };
  'apiKeys.list': { input: undefined; answer: { keys: ApiKey[] } };
  'apiKeys.getCurrent': { input: undefined; answer: CurrentApiKey };
  'apiKeys.revoke': { input: { key_id: number }; answer: { success: true } };
  'oauth.authorizeClient': { input: OauthAuthorizeClientInput; answer: OauthAuthorizeClientAnswer };
  'company.get': { input: { company_id?: number } | undefined; answer: CompanyGetAnswer };
  'company.update': { input: CompanyUpdateInput | undefined; answer: Company };
  'company.close': { input: { company_id?: number; name: string }; answer: CompanyCloseAnswer };
  'company.reopen': { input: { company_id?: number } | undefined; answer: Company };
  'employees.create': { input: EmployeesCreateInput; answer: Employee };
  'employees.list': { input: { company_id?: number } | undefined; answer: { employees: Employee[] } };
  'employees.listActive': { input: { company_id?: number } | undefined; answer: EmployeesListActiveAnswer };
  'employees.listInactive': { input: { company_id?: number } | undefined; answer: { employees: Employee[] } };
  'employees.get': { input: { employee_id: number }; answer: Employee };
  'employees.update': { input: EmployeesUpdateInput; answer: Employee };
  'employees.updatePicture': { input: { _id: number; profilePicture?: Upload | null }; answer: Employee };
  'employees.search': { input: { company_id?: number; q: string }; answer: { employees: Employee[] } };
  'employees.delete': { input: { _id: number }; answer: { success: true } };
  'employees.restore': { input: { _id: number }; answer: Employee };
  'employees.erase': { input: { _id: number }; answer: Employee };
  'employees.getAccess': { input: { _id: number }; answer: EmployeesGetAccessAnswer };
  'employees.endSessions': { input: { _id: number }; answer: { ended: number } };
  'employees.endApiKeys': { input: { _id: number }; answer: { ended: number } };
  'invitations.list': { input: undefined; answer: { invitations: Invitation[] } };
  'invitations.accept': { input: InvitationsAcceptInput; answer: SignedInResult };
  'invitations.decline': { input: { invitation_id: number }; answer: { success: true } };
  'projects.create': { input: ProjectsCreateInput; answer: Project };
  'projects.list': { input: ProjectsListInput | undefined; answer: Page<Project> };
  'projects.get': { input: { project_id: number }; answer: Project };
  'projects.update': { input: ProjectsUpdateInput; answer: Project };
  'projects.delete': { input: { project_id: number }; answer: { success: true } };
  'tasks.create': { input: TasksCreateInput; answer: Task };
  'tasks.list': { input: TasksListInput | undefined; answer: TasksListAnswer };
  'tasks.get': { input: { task_id: number }; answer: Task };
  'tasks.update': { input: TasksUpdateInput; answer: Task };
  'tasks.delete': { input: { task_id: number }; answer: { success: true } };
  'taskLogs.create': { input: TaskLogsCreateInput; answer: ChargedTaskLog };
  'taskLogs.bulkCreate': { input: TaskLogsBulkCreateInput; answer: TaskLogsBulkCreateAnswer };
  'taskLogs.listByTask': { input: { taskId: number }; answer: { taskLogs: ChargedTaskLog[]; totalSeconds: number } };
  'taskLogs.update': { input: TaskLogsUpdateInput; answer: ChargedTaskLog };
  'taskLogs.delete': { input: TaskLogsDeleteInput; answer: { success: true } };
  'csvImports.run': { input: CsvImportsRunInput; answer: CsvImportReport };
  'timers.start': { input: { taskId: number; description?: string | null }; answer: Timer };
  'timers.stop': { input: { description?: string | null } | undefined; answer: ChargedTaskLog };
  'timers.discard': { input: { employee_id?: number } | undefined; answer: { success: true } };
  'timers.get': { input: { employee_id?: number } | undefined; answer: Timer | { timer: null } };
  'timesheets.get': { input: TimesheetsGetInput; answer: Timesheet };
  'timePolicies.get': { input: { company_id?: number } | undefined; answer: TimePolicy };
  'timePolicies.update': { input: TimePoliciesUpdateInput | undefined; answer: TimePolicy };
  'rates.list': { input: RatesListInput | undefined; answer: RatesListAnswer };
  'rates.set': { input: RatesSetInput; answer: Rate };
  'rates.delete': { input: RatesDeleteInput; answer: { success: true } };
  'rates.applyToLogs': { input: RatesApplyToLogsInput; answer: RatesApplyToLogsAnswer };
  'timesheetPeriods.submit': { input: TimesheetPeriodsSubmitInput; answer: TimesheetPeriod };
  'timesheetPeriods.withdraw': { input: { period_id: number }; answer: TimesheetPeriod };
  'timesheetPeriods.decide': { input: TimesheetPeriodsDecideInput; answer: TimesheetPeriodsDecideAnswer };
  'timesheetPeriods.reopen': { input: TimesheetPeriodsReopenInput; answer: TimesheetPeriod };
  'timesheetPeriods.list': { input: TimesheetPeriodsListInput | undefined; answer: TimesheetPeriodsListAnswer };
  'workingHours.list': { input: { employee_id?: number } | undefined; answer: WorkingHours };
  'workingHours.set': { input: WorkingHoursSetInput; answer: WorkingHours };
  'holidays.list': { input: HolidaysListInput; answer: Holidays };
  'holidays.replace': { input: HolidaysReplaceInput; answer: Holidays };
  'balances.get': { input: BalancesGetInput; answer: BalancesGetAnswer };
  'statistics.company': { input: { company_id?: number } | undefined; answer: StatisticsCompanyAnswer };
  'statistics.performance': { input: { company_id?: number } | undefined; answer: { employees: EmployeePerformance[] } };
  'comments.listByTask': { input: { task_id: number }; answer: { comments: Comment[] } };
  'comments.create': { input: CommentsCreateInput; answer: Comment };
  'comments.update': { input: CommentsUpdateInput; answer: Comment };
  'comments.delete': { input: { comment_id: number }; answer: { success: true } };
  'comments.like': { input: { employee_id?: number; comment_id: number }; answer: { likeCount: number; likedByMe: boolean } };
  'comments.unlike': { input: { employee_id?: number; comment_id: number }; answer: { likeCount: number; likedByMe: boolean } };
  'notifications.list': { input: NotificationsListInput | undefined; answer: Page<Notification> };
  'notifications.countUnread': { input: { user_id?: number } | undefined; answer: { unread: number } };
  'notifications.read': { input: { notification_id: number }; answer: Notification };
  'notifications.readAll': { input: { user_id?: number } | undefined; answer: { updated: number } };
  'notifications.update': { input: NotificationsUpdateInput; answer: Notification };
  'notifications.delete': { input: { notification_ids: number[] }; answer: { deleted: number } };
  'notifications.clear': { input: { user_id?: number } | undefined; answer: { deleted: number } };
  'notifications.getPreferences': { input: { employee_id?: number } | undefined; answer: NotificationPreferences };
  'notifications.updatePreferences': { input: NotificationPreferencesChange; answer: NotificationPreferences };
  'webhooks.create': { input: WebhooksCreateInput; answer: WebhookWithSecret };
  'webhooks.list': { input: { company_id?: number } | undefined; answer: WebhooksListAnswer };
  'webhooks.get': { input: { webhook_id: number }; answer: Webhook };
  'webhooks.update': { input: WebhooksUpdateInput; answer: Webhook };
  'webhooks.delete': { input: { webhook_id: number }; answer: { success: true } };
  'webhooks.rotateSecret': { input: { webhook_id: number }; answer: WebhookWithSecret };
  'webhooks.test': { input: { webhook_id: number }; answer: WebhookDelivery };
  'webhooks.recover': { input: WebhooksRecoverInput; answer: WebhooksRecoverAnswer };
  'webhooks.deliveries': { input: WebhooksDeliveriesInput; answer: WebhooksDeliveriesAnswer };
  'webhooks.resend': { input: { delivery_id: number }; answer: WebhookDelivery };
  'audit.list': { input: AuditListInput | undefined; answer: AuditListAnswer };
  'audit.export': { input: AuditExportInput | undefined; answer: { results: AuditEntry[] } };
  'audit.verify': { input: AuditVerifyInput | undefined; answer: AuditVerdict };
  'exports.create': { input: ExportsCreateInput | undefined; answer: Export };
  'exports.list': { input: { company_id?: number } | undefined; answer: ExportsListAnswer };
  'exports.get': { input: ExportsGetInput; answer: Export };
  'exports.delete': { input: ExportsDeleteInput; answer: { success: true } };
  'search.company': { input: SearchCompanyInput; answer: SearchCompanyAnswer };
}

/** The input and events of each stream, by its name. */
export interface StreamTypes {
  'projects.onCompany': { input: ProjectsOnCompanyInput | undefined; event: ProjectsOnCompanyEvent };
  'tasks.onProject': { input: TasksOnProjectInput; event: TasksOnProjectEvent };
  'timers.onMine': { input: TimersOnMineInput | undefined; event: TimerStarted | TimerStopped | StreamReset };
  'comments.onTask': { input: CommentsOnTaskInput; event: CommentsOnTaskEvent };
  'notifications.onMine': { input: NotificationsOnMineInput | undefined; event: NotificationsOnMineEvent };
}
