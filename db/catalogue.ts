import type { Schema } from './schema.ts';

/*
 * What each column of the database means, for those who take data out of it, bring it in, or erase a person from it. A table or
 * column that is missing here does not compile, so a new one cannot be forgotten.
 */

/** What a column holds. */
export type Label =
  /** The company. */
  | 'company'
  /** The number of the row. An import gives a new one. */
  | 'id'
  /** The number of a row of another table. An import replaces it with the new one. */
  | Reference
  /** Facts about work or settings, of nobody in particular. */
  | 'plain'
  /** Tells something of one person: the erasure of that person removes it. */
  | 'personal'
  /** What people wrote about work. It stays when its author is erased. */
  | 'text'
  /** An address in the frontend, with the numbers of rows in it. */
  | 'link'
  /** Lets its holder in, or proves who they are. It never leaves the database. */
  | 'secret'
  /** Computed from other columns. */
  | 'derived'
  /** Only means something in this installation. */
  | 'local';

export type Reference = { readonly table: Table };
export type Table = keyof Schema;

const ref = (table: Table): Reference => ({ table });
export const isReference = (label: Label): label is Reference => typeof label === 'object';

/** A table whose rows are exported, without what is `company`, `secret`, `derived` or `local`. */
export type ExportedTable = {
  /** Its rows are exported in this order, the same in every database. */
  readonly key: readonly string[];
  /** Whether the export of a company has its rows. They are imported in the order of the tables here. */
  readonly ofCompany: boolean;
  /** Which rows are those of a person: `$1` is the company, `$2` the employee, `t` the table. */
  readonly ofPerson: string | null;
};

type Entry<Columns> = {
  /** How it is exported, or why it is not. */
  readonly exported: ExportedTable | string;
  readonly columns: Readonly<Record<keyof Columns, Label>>;
};

export type Catalogue = { readonly [Name in Table]: Entry<Schema[Name]> };

const rows = (key: string | readonly string[], ofPerson: string | null): ExportedTable => ({
  key: typeof key === 'string' ? [key] : key,
  ofCompany: true,
  ofPerson,
});

/** What is told to the person whom it concerns, and to nobody else. */
const rowsOfPerson = (key: string | readonly string[], ofPerson: string): ExportedTable => ({
  ...rows(key, ofPerson),
  ofCompany: false,
});

const employee = ref('employees');
const project = ref('projects');
const task = ref('tasks');
const comment = ref('comments');

const counted = 'is recomputed from the rows that it counts';
const installation = 'belongs to this installation';
const shortLived = 'is deleted after a short time';
const signIn = 'lets people in';

/** What a person has worked on. */
const theirTasks = `(
  select task_id from tasks where company_id = $1 and owner_id = $2
  union select task_id from task_collaborators where company_id = $1 and employee_id = $2
  union select task_id from task_logs where company_id = $1 and employee_id = $2
  union select task_id from comments where company_id = $1 and sender_id = $2
)`;

export const catalogue: Catalogue = {
  // The company and its people.
  companies: {
    exported: rows('company_id', null),
    columns: {
      company_id: 'company',
      name: 'plain',
      timezone: 'plain',
      owner_id: employee,
      referral_code: 'plain',
      closed_at: 'local',
      closes_at: 'local',
      closed_by_id: 'local',
      removal_began_at: 'local',
      created_at: 'plain',
      updated_at: 'plain',
    },
  },
  pictures: {
    exported: rows(
      'picture_id',
      't.picture_id in (select picture_id from employees where company_id = $1 and employee_id = $2)',
    ),
    columns: {
      company_id: 'company',
      picture_id: 'personal',
      content_type: 'personal',
      content: 'personal',
      created_at: 'plain',
    },
  },
  employees: {
    exported: rows('employee_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      employee_id: 'id',
      account_id: 'local',
      email: 'personal',
      first_name: 'personal',
      last_name: 'personal',
      own_name: 'personal',
      name: 'derived',
      phone: 'personal',
      designation: 'personal',
      salary: 'personal',
      is_admin: 'plain',
      is_team_leader: 'plain',
      is_active: 'plain',
      is_deleted: 'plain',
      date_of_birth: 'personal',
      date_of_joining: 'personal',
      gender: 'personal',
      country_code: 'personal',
      picture_id: 'personal',
      search_text: 'derived',
      created_at: 'plain',
      updated_at: 'plain',
      erased_at: 'plain',
    },
  },
  subscriptions: {
    exported: rows('subscription_id', null),
    columns: {
      company_id: 'company',
      subscription_id: 'id',
      plan_id: ref('plans'),
      status: 'plain',
      trial: 'plain',
      starts_at: 'plain',
      ends_at: 'plain',
      created_at: 'plain',
    },
  },
  payments: {
    exported: rows('payment_id', null),
    columns: {
      company_id: 'company',
      payment_id: 'id',
      subscription_id: ref('subscriptions'),
      amount: 'plain',
      currency: 'plain',
      status: 'plain',
      paid_at: 'plain',
      created_at: 'plain',
    },
  },
  schedules: {
    exported: rows('schedule_id', null),
    columns: {
      company_id: 'company',
      schedule_id: 'id',
      name: 'plain',
      is_default: 'plain',
      weekdays: 'plain',
      starts_at: 'plain',
      ends_at: 'plain',
      created_at: 'plain',
    },
  },
  workspaces: {
    exported: rows('workspace_id', null),
    columns: {
      company_id: 'company',
      workspace_id: 'id',
      name: 'plain',
      is_default: 'plain',
      created_at: 'plain',
    },
  },
  storages: {
    exported: rows([], null),
    columns: { company_id: 'company', bytes_used: 'plain', bytes_max: 'plain', created_at: 'plain' },
  },
  notification_setups: {
    exported: rows('category collate "C"', null),
    columns: { company_id: 'company', category: 'plain', in_app: 'plain', email: 'plain' },
  },
  notification_preferences: {
    exported: rows(['employee_id', 'category collate "C"'], 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      employee_id: employee,
      category: 'plain',
      in_app: 'plain',
      email: 'plain',
      updated_at: 'plain',
    },
  },
  working_hours: {
    exported: rows(['employee_id', 'valid_from'], 't.employee_id = $2'),
    columns: { company_id: 'company', employee_id: employee, valid_from: 'plain', minutes: 'plain' },
  },
  holidays: {
    exported: rows('day', null),
    columns: { company_id: 'company', day: 'plain', name: 'plain' },
  },

  // Work.
  projects: {
    exported: rows(
      'project_id',
      `t.owner_id = $2 or t.project_id in (select project_id from tasks where company_id = $1 and task_id in ${theirTasks})`,
    ),
    columns: {
      company_id: 'company',
      project_id: 'id',
      name: 'text',
      description: 'text',
      owner_id: employee,
      allocated_hours: 'plain',
      logged_seconds: 'derived',
      status: 'plain',
      created_at: 'plain',
      updated_at: 'plain',
      deleted_at: 'plain',
      is_exceeded: 'derived',
      billable: 'plain',
      budget_minor_units: 'plain',
      budget_currency: 'plain',
    },
  },
  tasks: {
    exported: rows('task_id', `t.task_id in ${theirTasks}`),
    columns: {
      company_id: 'company',
      task_id: 'id',
      project_id: project,
      title: 'text',
      description: 'text',
      status: 'plain',
      owner_id: employee,
      due_date: 'plain',
      estimated_hours: 'plain',
      completed_at: 'plain',
      created_at: 'plain',
      updated_at: 'plain',
      deleted_at: 'plain',
    },
  },
  task_collaborators: {
    exported: rows(['task_id', 'employee_id'], 't.employee_id = $2'),
    columns: { company_id: 'company', task_id: task, employee_id: employee },
  },
  task_logs: {
    exported: rows('task_log_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      task_log_id: 'id',
      task_id: task,
      employee_id: employee,
      project_id: project,
      start_time: 'plain',
      end_time: 'plain',
      duration_seconds: 'derived',
      description: 'text',
      manual_add: 'plain',
      created_at: 'plain',
      updated_at: 'plain',
      billable: 'plain',
      rate_minor_units: 'plain',
      currency: 'plain',
    },
  },
  // Which rows of other services' files are here already.
  imported_rows: {
    exported: rows(['source collate "C"', 'row_key collate "C"'], null),
    columns: {
      company_id: 'company',
      source: 'plain',
      row_key: 'plain',
      task_id: task,
      task_log_id: ref('task_logs'),
    },
  },
  timers: {
    exported: rows('employee_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      employee_id: employee,
      task_id: task,
      start_time: 'plain',
      description: 'text',
    },
  },
  comments: {
    exported: rows('comment_id', 't.sender_id = $2'),
    columns: {
      company_id: 'company',
      comment_id: 'id',
      task_id: task,
      sender_id: employee,
      client_sender: 'plain',
      message: 'text',
      mentioned_emails: 'personal',
      reply_to: comment,
      image: 'text',
      is_edited: 'plain',
      is_deleted: 'plain',
      created_at: 'plain',
      edited_at: 'plain',
    },
  },
  comment_mentions: {
    exported: rows(['comment_id', 'employee_id'], 't.employee_id = $2'),
    columns: { company_id: 'company', comment_id: comment, employee_id: employee },
  },
  comment_likes: {
    exported: rows(['comment_id', 'employee_id'], 't.employee_id = $2'),
    columns: { company_id: 'company', comment_id: comment, employee_id: employee, created_at: 'plain' },
  },
  comment_views: {
    exported: rows(['comment_id', 'employee_id'], 't.employee_id = $2'),
    columns: { company_id: 'company', comment_id: comment, employee_id: employee, seen_at: 'plain' },
  },

  // Time that is handed in, and what it costs. Behind the logs, because approved time refuses changes.
  time_policies: {
    exported: rows([], null),
    columns: {
      company_id: 'company',
      period: 'plain',
      week_start: 'plain',
      lock_after_days: 'plain',
      grace_days: 'plain',
      approver: 'plain',
      require_approval: 'plain',
      expected_minutes: 'plain',
    },
  },
  timesheet_periods: {
    exported: rows(['employee_id', 'first_day'], 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      employee_id: employee,
      first_day: 'plain',
      last_day: 'plain',
      period_id: 'id',
      state: 'plain',
      submitted_by_id: employee,
      submitted_at: 'plain',
      decided_by_id: employee,
      decided_at: 'plain',
      note: 'text',
      expected_minutes: 'plain',
      snapshot: 'plain',
    },
  },
  rates: {
    exported: rows('rate_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      rate_id: 'id',
      task_id: task,
      project_id: project,
      employee_id: employee,
      valid_from: 'plain',
      minor_units: 'plain',
      currency: 'plain',
      created_at: 'plain',
    },
  },

  // What people were told of all that.
  notifications: {
    exported: rows('notification_id', 't.recipient_id = $2'),
    columns: {
      company_id: 'company',
      notification_id: 'id',
      recipient_id: employee,
      cause: 'local',
      app_type: 'plain',
      category: 'plain',
      priority: 'plain',
      title: 'personal',
      message: 'personal',
      link: 'link',
      actor_id: employee,
      task_id: task,
      comment_id: comment,
      project_id: project,
      is_mention: 'plain',
      is_read: 'plain',
      is_starred: 'plain',
      is_later: 'plain',
      is_archived: 'plain',
      created_at: 'plain',
    },
  },

  // What is computed.
  comment_counts: {
    exported: counted,
    columns: { company_id: 'company', employee_id: employee, posted: 'derived' },
  },
  company_counts: {
    exported: counted,
    columns: {
      company_id: 'company',
      kind: 'derived',
      status: 'derived',
      shard: 'derived',
      count: 'derived',
      owner_id: employee,
    },
  },
  company_day_shards: {
    exported: counted,
    columns: { company_id: 'company', day: 'derived', shard: 'derived', logged_seconds: 'derived' },
  },
  company_days: {
    exported: counted,
    columns: { company_id: 'company', day: 'derived', logged_seconds: 'derived' },
  },
  notification_counts: {
    exported: counted,
    columns: {
      company_id: 'company',
      employee_id: employee,
      unread: 'derived',
      total: 'derived',
      last_created_at: 'derived',
    },
  },
  notification_tallies: {
    exported: counted,
    columns: {
      company_id: 'company',
      employee_id: employee,
      app_type: 'derived',
      category: 'derived',
      priority: 'derived',
      is_mention: 'derived',
      is_read: 'derived',
      is_starred: 'derived',
      is_later: 'derived',
      is_archived: 'derived',
      count: 'derived',
    },
  },
  project_amounts: {
    exported: counted,
    columns: { company_id: 'company', project_id: project, currency: 'derived', minor_units: 'derived' },
  },
  task_counts: {
    exported: counted,
    columns: {
      company_id: 'company',
      project_id: project,
      owner_id: employee,
      todo: 'derived',
      in_progress: 'derived',
      in_review: 'derived',
      done: 'derived',
      done_with_due_date: 'derived',
      done_on_time: 'derived',
    },
  },
  work_days: {
    exported: counted,
    columns: {
      company_id: 'company',
      employee_id: employee,
      day: 'derived',
      working_seconds: 'derived',
      logged_seconds: 'derived',
    },
  },
  work_totals: {
    exported: counted,
    columns: { company_id: 'company', employee_id: employee, logged_seconds: 'derived', working_seconds: 'derived' },
  },

  // Ways in. People sign in by a code to their address after an import.
  accounts: {
    exported: signIn,
    columns: {
      account_id: 'id',
      email: 'personal',
      email_verified_at: 'personal',
      password_hash: 'secret',
      created_at: 'plain',
      updated_at: 'plain',
    },
  },
  account_devices: {
    exported: signIn,
    columns: { account_id: ref('accounts'), device: 'personal', network: 'personal', last_seen_at: 'personal' },
  },
  api_key_sign_ins: {
    exported: signIn,
    columns: { company_id: 'company', api_key_id: ref('api_keys'), employee_id: employee, first_at: 'plain' },
  },
  api_keys: {
    exported: rowsOfPerson('api_key_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      api_key_id: 'id',
      employee_id: employee,
      name: 'personal',
      key_hash: 'secret',
      key_start: 'secret',
      scopes: 'plain',
      expires_at: 'plain',
      last_used_at: 'plain',
      revoked_at: 'plain',
      created_at: 'plain',
      expiry_mailed_at: 'plain',
      client_id: 'plain',
      access_expires_at: 'plain',
    },
  },
  apple_claims: {
    exported: signIn,
    columns: { subject: 'personal', account_id: ref('accounts'), created_at: 'plain', expires_at: 'plain' },
  },
  identities: {
    exported: signIn,
    columns: {
      issuer: 'personal',
      subject: 'personal',
      account_id: ref('accounts'),
      email: 'personal',
      created_at: 'plain',
    },
  },
  invitations: {
    exported: rowsOfPerson('invitation_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      invitation_id: 'id',
      employee_id: employee,
      email: 'personal',
      invited_by_id: employee,
      token_hash: 'secret',
      mailed_at: 'plain',
      created_at: 'plain',
      ended_at: 'plain',
      outcome: 'plain',
    },
  },
  oauth_clients: {
    exported: installation,
    columns: { client_id: 'local', name: 'local', redirect_uris: 'local', created_at: 'local', expires_at: 'local' },
  },
  oauth_grants: {
    exported: signIn,
    columns: {
      company_id: 'company',
      api_key_id: ref('api_keys'),
      code_hash: 'secret',
      code_expires_at: 'plain',
      code_used_at: 'plain',
      redirect_uri: 'plain',
      code_challenge: 'plain',
      family_hash: 'secret',
      refresh_hash: 'secret',
      previous_refresh_hash: 'secret',
      rotated_at: 'plain',
    },
  },
  one_time_codes: {
    exported: signIn,
    columns: {
      email: 'personal',
      purpose: 'plain',
      code_hash: 'secret',
      wrong_tries: 'plain',
      created_at: 'plain',
      expires_at: 'plain',
      used_at: 'plain',
      asked_by_network: 'personal',
    },
  },
  one_time_tokens: {
    exported: signIn,
    columns: {
      token_hash: 'secret',
      purpose: 'plain',
      account_id: ref('accounts'),
      created_at: 'plain',
      expires_at: 'plain',
      used_at: 'plain',
      address_proved_at: 'plain',
    },
  },
  sessions: {
    exported: rowsOfPerson('session_id', 't.employee_id = $2'),
    columns: {
      session_id: 'id',
      account_id: ref('accounts'),
      company_id: 'company',
      employee_id: employee,
      method: 'plain',
      refresh_generation: 'secret',
      rotated_at: 'plain',
      expires_at: 'plain',
      user_agent: 'personal',
      network: 'personal',
      created_at: 'plain',
      last_used_at: 'plain',
      ended_at: 'plain',
      ended_because: 'plain',
      opened_by_key_id: ref('api_keys'),
      address_proved_at: 'plain',
      signed_in_at: 'plain',
    },
  },
  used_identity_tokens: {
    exported: signIn,
    columns: { token_hash: 'secret', expires_at: 'plain', ticket_hash: 'secret' },
  },

  // What belongs to this installation. The audit log is sealed by it, and has an export of its own.
  audit_clock: {
    exported: installation,
    columns: { xid_offset: 'local', only_row: 'local' },
  },
  audit_log: {
    exported: rowsOfPerson('audit_id', 't.employee_id = $2'),
    columns: {
      company_id: 'company',
      xid: 'local',
      audit_id: 'id',
      at: 'plain',
      account_id: ref('accounts'),
      employee_id: employee,
      api_key_id: ref('api_keys'),
      session_id: ref('sessions'),
      network: 'personal',
      request_id: 'plain',
      transport: 'plain',
      operation: 'plain',
      subject_kind: 'plain',
      subject_id: 'plain',
      changes: 'personal',
      result: 'plain',
      error_code: 'plain',
      times: 'plain',
    },
  },
  audit_erasures: {
    exported: 'proves rows of the audit log',
    columns: { company_id: 'company', erasure_id: 'local', statement: 'local', erased_at: 'local' },
  },
  audit_seals: {
    exported: 'proves rows of the audit log',
    columns: {
      company_id: 'company',
      seal_id: 'local',
      from_xid: 'local',
      to_xid: 'local',
      row_count: 'local',
      entries: 'local',
      statement: 'local',
      sealed_at: 'local',
      erasures_to: 'local',
    },
  },
  company_mornings: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      day: 'local',
      step: 'local',
      after_task_id: task,
      after_employee_id: employee,
      created_at: 'local',
    },
  },
  export_parts: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      export_id: ref('exports'),
      run: 'local',
      part: 'local',
      content: 'personal',
    },
  },
  exports: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      export_id: 'id',
      employee_id: employee,
      requested_by_id: employee,
      rows_total: 'local',
      rows_done: 'local',
      run: 'local',
      byte_count: 'local',
      sha256: 'local',
      created_at: 'local',
      started_at: 'local',
      finished_at: 'local',
      expires_at: 'local',
    },
  },
  derived_definitions: {
    exported: installation,
    columns: { name: 'local', hash: 'local' },
  },
  event_streams: {
    exported: shortLived,
    columns: { company_id: 'company', stream: 'local', last_sequence: 'local' },
  },
  events: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      stream: 'local',
      sequence: 'local',
      type: 'plain',
      payload: 'personal',
      at: 'plain',
    },
  },
  idempotent_answers: {
    exported: shortLived,
    columns: {
      key_hash: 'secret',
      operation: 'plain',
      input_hash: 'secret',
      sealed_answer: 'secret',
      created_at: 'plain',
      of_company: 'company',
    },
  },
  jobs: {
    exported: shortLived,
    columns: {
      job_id: 'local',
      handler: 'local',
      dedupe_key: 'local',
      payload: 'personal',
      attempts: 'local',
      due_at: 'local',
      leased_until: 'local',
      dead_lettered_at: 'local',
      last_error: 'local',
      created_at: 'local',
      queue: 'local',
      waits_for_company: 'company',
    },
  },
  invitation_mails: {
    exported: shortLived,
    columns: { company_id: 'company', mail_id: 'local', address_hash: 'secret', mailed_at: 'local' },
  },
  // It counts mails of sign-ins by keys as well: see mail-limits.ts.
  mention_mails: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      address_hash: 'secret',
      is_invited: 'local',
      count: 'local',
      ends_at: 'local',
    },
  },
  morning_rounds: {
    exported: installation,
    columns: { planned_until: 'local', only_row: 'local' },
  },
  notification_mails: {
    exported: shortLived,
    columns: { company_id: 'company', employee_id: employee, hour_began_at: 'local', count: 'local' },
  },
  plans: {
    exported: installation,
    columns: {
      plan_id: 'id',
      code: 'plain',
      name: 'plain',
      price_per_month: 'plain',
      currency: 'plain',
      max_employees: 'plain',
      storage_bytes: 'plain',
      rank: 'plain',
    },
  },
  sweep_rounds: {
    exported: installation,
    columns: { looked_at: 'local', doubted_since: 'local', only_row: 'local' },
  },
  unlisted_notifications: {
    exported: 'keeps people from being told twice',
    columns: { company_id: 'company', employee_id: employee, cause: 'local' },
  },
  webhook_attempts: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      message_id: ref('webhook_messages'),
      attempt_id: 'id',
      at: 'plain',
      duration_ms: 'plain',
      status: 'plain',
      error: 'plain',
      answer: 'personal',
    },
  },
  webhook_messages: {
    exported: shortLived,
    columns: {
      company_id: 'company',
      message_id: 'id',
      webhook_id: ref('webhooks'),
      public_id: 'local',
      type: 'plain',
      stream: 'local',
      sequence: 'local',
      payload: 'personal',
      at: 'plain',
      state: 'plain',
      attempts: 'plain',
      due_at: 'plain',
      leased_until: 'local',
    },
  },
  webhooks: {
    exported: 'would send the work of this company twice; its secret stays here',
    columns: {
      company_id: 'company',
      webhook_id: 'id',
      url: 'plain',
      description: 'text',
      events: 'plain',
      sealed_secret: 'secret',
      sealed_previous_secret: 'secret',
      previous_secret_until: 'plain',
      is_enabled: 'plain',
      disabled_because: 'plain',
      failing_since: 'plain',
      created_at: 'plain',
      updated_at: 'plain',
    },
  },
};
