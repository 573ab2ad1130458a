// Made by `npm run generate` from the migrations; do not edit.
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely';

type Json = JSONColumnType<Record<string, unknown>>;

export type Schema = {
  account_devices: {
    account_id: number;
    device: string;
    network: string;
    last_seen_at: Date;
  };
  accounts: {
    account_id: GeneratedAlways<number>;
    email: string;
    email_verified_at: Date | null;
    password_hash: string | null;
    created_at: Date;
    updated_at: Date;
  };
  api_key_sign_ins: {
    company_id: number;
    api_key_id: number;
    employee_id: number;
    first_at: Date;
  };
  api_keys: {
    company_id: number;
    api_key_id: GeneratedAlways<number>;
    employee_id: number;
    name: string;
    key_hash: string;
    key_start: string;
    scopes: string[];
    expires_at: Date | null;
    last_used_at: Date | null;
    revoked_at: Date | null;
    created_at: Date;
    expiry_mailed_at: Date | null;
    client_id: string | null;
    access_expires_at: Date | null;
  };
  apple_claims: {
    subject: string;
    account_id: number;
    created_at: Date;
    expires_at: Date;
  };
  audit_clock: {
    xid_offset: Generated<number>;
    only_row: Generated<boolean>;
  };
  audit_erasures: {
    company_id: number;
    erasure_id: GeneratedAlways<number>;
    statement: string;
    erased_at: Generated<Date>;
  };
  audit_log: {
    company_id: number;
    xid: number;
    audit_id: GeneratedAlways<number>;
    at: Generated<Date>;
    account_id: number | null;
    employee_id: number | null;
    api_key_id: number | null;
    session_id: number | null;
    network: string | null;
    request_id: string | null;
    transport: string;
    operation: string;
    subject_kind: string | null;
    subject_id: number | null;
    changes: Json;
    result: string;
    error_code: string | null;
    times: Generated<number>;
  };
  audit_seals: {
    company_id: number;
    seal_id: number;
    from_xid: number;
    to_xid: number;
    row_count: number;
    entries: Buffer;
    statement: string;
    sealed_at: Generated<Date>;
    erasures_to: number | null;
  };
  comment_counts: {
    company_id: number;
    employee_id: number;
    posted: number;
  };
  comment_likes: {
    company_id: number;
    comment_id: number;
    employee_id: number;
    created_at: Date;
  };
  comment_mentions: {
    company_id: number;
    comment_id: number;
    employee_id: number;
  };
  comment_views: {
    company_id: number;
    comment_id: number;
    employee_id: number;
    seen_at: Date;
  };
  comments: {
    company_id: number;
    comment_id: GeneratedAlways<number>;
    task_id: number;
    sender_id: number;
    client_sender: number | null;
    message: string | null;
    mentioned_emails: Generated<string[]>;
    reply_to: number | null;
    image: string | null;
    is_edited: Generated<boolean>;
    is_deleted: Generated<boolean>;
    created_at: Date;
    edited_at: Date | null;
  };
  companies: {
    company_id: GeneratedAlways<number>;
    name: string;
    timezone: string;
    owner_id: number | null;
    referral_code: string | null;
    created_at: Date;
    updated_at: Date;
    closed_at: Date | null;
    closes_at: Date | null;
    closed_by_id: number | null;
    removal_began_at: Date | null;
  };
  company_counts: {
    company_id: number;
    kind: string;
    status: string;
    shard: number;
    count: number;
    owner_id: Generated<number>;
  };
  company_day_shards: {
    company_id: number;
    day: string;
    shard: number;
    logged_seconds: number;
  };
  company_days: {
    company_id: number;
    day: string;
    logged_seconds: number;
  };
  company_mornings: {
    company_id: number;
    day: string;
    step: Generated<string>;
    after_task_id: Generated<number>;
    after_employee_id: Generated<number>;
    created_at: Date;
  };
  derived_definitions: {
    name: string;
    hash: string;
  };
  employees: {
    company_id: number;
    employee_id: GeneratedAlways<number>;
    account_id: number | null;
    email: string;
    first_name: string;
    last_name: string;
    own_name: string | null;
    name: GeneratedAlways<string>;
    phone: string | null;
    designation: string | null;
    salary: number | null;
    is_admin: Generated<boolean>;
    is_team_leader: Generated<boolean>;
    is_active: Generated<boolean>;
    is_deleted: Generated<boolean>;
    date_of_birth: string | null;
    date_of_joining: string | null;
    gender: string | null;
    country_code: string | null;
    picture_id: string | null;
    search_text: string;
    created_at: Date;
    updated_at: Date;
    erased_at: Date | null;
  };
  event_streams: {
    company_id: number;
    stream: string;
    last_sequence: number;
  };
  events: {
    company_id: number;
    stream: string;
    sequence: number;
    type: string;
    payload: Json;
    at: Date;
  };
  export_parts: {
    company_id: number;
    export_id: number;
    run: string;
    part: number;
    content: Buffer;
  };
  exports: {
    company_id: number;
    export_id: GeneratedAlways<number>;
    employee_id: number | null;
    requested_by_id: number;
    rows_total: number | null;
    rows_done: Generated<number>;
    run: string | null;
    byte_count: number | null;
    sha256: string | null;
    created_at: Date;
    started_at: Date | null;
    finished_at: Date | null;
    expires_at: Date;
  };
  holidays: {
    company_id: number;
    day: string;
    name: string;
  };
  idempotent_answers: {
    key_hash: string;
    operation: string;
    input_hash: string;
    sealed_answer: Buffer;
    created_at: Date;
    of_company: number | null;
  };
  identities: {
    issuer: string;
    subject: string;
    account_id: number;
    email: string | null;
    created_at: Date;
  };
  imported_rows: {
    company_id: number;
    source: string;
    row_key: string;
    task_id: number | null;
    task_log_id: number | null;
  };
  invitation_mails: {
    company_id: number;
    mail_id: GeneratedAlways<number>;
    address_hash: string;
    mailed_at: Date;
  };
  invitations: {
    company_id: number;
    invitation_id: GeneratedAlways<number>;
    employee_id: number;
    email: string;
    invited_by_id: number | null;
    token_hash: string | null;
    mailed_at: Date | null;
    created_at: Date;
    ended_at: Date | null;
    outcome: string | null;
  };
  jobs: {
    job_id: GeneratedAlways<number>;
    handler: string;
    dedupe_key: string;
    payload: Json;
    attempts: Generated<number>;
    due_at: Date;
    leased_until: Date | null;
    dead_lettered_at: Date | null;
    last_error: string | null;
    created_at: Date;
    queue: Generated<string>;
    waits_for_company: GeneratedAlways<number | null>;
  };
  mention_mails: {
    company_id: number;
    address_hash: string;
    is_invited: boolean;
    count: number;
    ends_at: Date;
  };
  morning_rounds: {
    planned_until: Date;
    only_row: Generated<boolean>;
  };
  notification_counts: {
    company_id: number;
    employee_id: number;
    unread: Generated<number>;
    total: Generated<number>;
    last_created_at: Date | null;
  };
  notification_mails: {
    company_id: number;
    employee_id: number;
    hour_began_at: Date;
    count: number;
  };
  notification_preferences: {
    company_id: number;
    employee_id: number;
    category: string;
    in_app: boolean;
    email: boolean;
    updated_at: Date;
  };
  notification_setups: {
    company_id: number;
    category: string;
    in_app: boolean;
    email: boolean;
  };
  notification_tallies: {
    company_id: number;
    employee_id: number;
    app_type: string;
    category: string;
    priority: string;
    is_mention: boolean;
    is_read: boolean;
    is_starred: boolean;
    is_later: boolean;
    is_archived: boolean;
    count: number;
  };
  notifications: {
    company_id: number;
    notification_id: GeneratedAlways<number>;
    recipient_id: number;
    cause: string;
    app_type: string;
    category: string;
    priority: string;
    title: string;
    message: string;
    link: string | null;
    actor_id: number | null;
    task_id: number | null;
    comment_id: number | null;
    project_id: number | null;
    is_mention: Generated<boolean>;
    is_read: Generated<boolean>;
    is_starred: Generated<boolean>;
    is_later: Generated<boolean>;
    is_archived: Generated<boolean>;
    created_at: Date;
  };
  oauth_clients: {
    client_id: string;
    name: string;
    redirect_uris: string[];
    created_at: Date;
    expires_at: Date;
  };
  oauth_grants: {
    company_id: number;
    api_key_id: number;
    code_hash: string;
    code_expires_at: Date;
    code_used_at: Date | null;
    redirect_uri: string;
    code_challenge: string;
    family_hash: string | null;
    refresh_hash: string | null;
    previous_refresh_hash: string | null;
    rotated_at: Date | null;
  };
  one_time_codes: {
    email: string;
    purpose: string;
    code_hash: string;
    wrong_tries: Generated<number>;
    created_at: Date;
    expires_at: Date;
    used_at: Date | null;
    asked_by_network: string | null;
  };
  one_time_tokens: {
    token_hash: string;
    purpose: string;
    account_id: number;
    created_at: Date;
    expires_at: Date;
    used_at: Date | null;
    address_proved_at: Date | null;
  };
  payments: {
    company_id: number;
    payment_id: GeneratedAlways<number>;
    subscription_id: number;
    amount: number;
    currency: string;
    status: string;
    paid_at: Date | null;
    created_at: Date;
  };
  pictures: {
    company_id: number;
    picture_id: string;
    content_type: string;
    content: Buffer;
    created_at: Date;
  };
  plans: {
    plan_id: GeneratedAlways<number>;
    code: string;
    name: string;
    price_per_month: number;
    currency: string;
    max_employees: number | null;
    storage_bytes: number;
    rank: number;
  };
  project_amounts: {
    company_id: number;
    project_id: number;
    currency: string;
    minor_units: number;
  };
  projects: {
    company_id: number;
    project_id: GeneratedAlways<number>;
    name: string;
    description: string | null;
    owner_id: number;
    allocated_hours: number | null;
    logged_seconds: Generated<number>;
    status: Generated<string>;
    created_at: Date;
    updated_at: Date;
    deleted_at: Date | null;
    is_exceeded: GeneratedAlways<boolean>;
    billable: Generated<boolean>;
    budget_minor_units: number | null;
    budget_currency: string | null;
  };
  rates: {
    company_id: number;
    rate_id: GeneratedAlways<number>;
    task_id: number | null;
    project_id: number | null;
    employee_id: number | null;
    valid_from: string;
    minor_units: number | null;
    currency: string | null;
    created_at: Date;
  };
  schedules: {
    company_id: number;
    schedule_id: GeneratedAlways<number>;
    name: string;
    is_default: boolean;
    weekdays: number[];
    starts_at: string;
    ends_at: string;
    created_at: Date;
  };
  sessions: {
    session_id: GeneratedAlways<number>;
    account_id: number | null;
    company_id: number | null;
    employee_id: number | null;
    method: string;
    refresh_generation: Generated<number>;
    rotated_at: Date;
    expires_at: Date;
    user_agent: string | null;
    network: string | null;
    created_at: Date;
    last_used_at: Date;
    ended_at: Date | null;
    ended_because: string | null;
    opened_by_key_id: number | null;
    address_proved_at: Date | null;
    signed_in_at: Generated<Date>;
  };
  storages: {
    company_id: number;
    bytes_used: Generated<number>;
    bytes_max: number;
    created_at: Date;
  };
  subscriptions: {
    company_id: number;
    subscription_id: GeneratedAlways<number>;
    plan_id: number;
    status: string;
    trial: boolean;
    starts_at: Date;
    ends_at: Date | null;
    created_at: Date;
  };
  sweep_rounds: {
    looked_at: Date | null;
    doubted_since: Date | null;
    only_row: Generated<boolean>;
  };
  task_collaborators: {
    company_id: number;
    task_id: number;
    employee_id: number;
  };
  task_counts: {
    company_id: number;
    project_id: number;
    owner_id: number;
    todo: number;
    in_progress: number;
    in_review: number;
    done: number;
    done_with_due_date: number;
    done_on_time: number;
  };
  task_logs: {
    company_id: number;
    task_log_id: GeneratedAlways<number>;
    task_id: number;
    employee_id: number;
    project_id: number;
    start_time: Date;
    end_time: Date;
    duration_seconds: GeneratedAlways<number>;
    description: string | null;
    manual_add: boolean;
    created_at: Date;
    updated_at: Date;
    billable: Generated<boolean>;
    rate_minor_units: number | null;
    currency: string | null;
  };
  tasks: {
    company_id: number;
    task_id: GeneratedAlways<number>;
    project_id: number;
    title: string;
    description: string | null;
    status: Generated<string>;
    owner_id: number;
    due_date: string | null;
    estimated_hours: number | null;
    completed_at: Date | null;
    created_at: Date;
    updated_at: Date;
    deleted_at: Date | null;
  };
  time_policies: {
    company_id: number;
    period: string;
    week_start: number;
    lock_after_days: number | null;
    grace_days: number;
    approver: string;
    require_approval: boolean;
    expected_minutes: number[];
  };
  timers: {
    company_id: number;
    employee_id: number;
    task_id: number;
    start_time: Date;
    description: string | null;
  };
  timesheet_periods: {
    company_id: number;
    employee_id: number;
    first_day: string;
    last_day: string;
    period_id: GeneratedAlways<number>;
    state: string;
    submitted_by_id: number;
    submitted_at: Date;
    decided_by_id: number | null;
    decided_at: Date | null;
    note: string | null;
    expected_minutes: number;
    snapshot: Json;
  };
  unlisted_notifications: {
    company_id: number;
    employee_id: number;
    cause: string;
  };
  used_identity_tokens: {
    token_hash: string;
    expires_at: Date;
    ticket_hash: string | null;
  };
  webhook_attempts: {
    company_id: number;
    message_id: number;
    attempt_id: GeneratedAlways<number>;
    at: Date;
    duration_ms: number;
    status: number | null;
    error: string | null;
    answer: string | null;
  };
  webhook_messages: {
    company_id: number;
    message_id: GeneratedAlways<number>;
    webhook_id: number;
    public_id: Generated<string>;
    type: string;
    stream: string | null;
    sequence: number | null;
    payload: Json;
    at: Date;
    state: Generated<string>;
    attempts: Generated<number>;
    due_at: Date;
    leased_until: Date | null;
  };
  webhooks: {
    company_id: number;
    webhook_id: GeneratedAlways<number>;
    url: string;
    description: string | null;
    events: string[];
    sealed_secret: Buffer;
    sealed_previous_secret: Buffer | null;
    previous_secret_until: Date | null;
    is_enabled: Generated<boolean>;
    disabled_because: string | null;
    failing_since: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  work_days: {
    company_id: number;
    employee_id: number;
    day: string;
    working_seconds: number;
    logged_seconds: number;
  };
  work_totals: {
    company_id: number;
    employee_id: number;
    logged_seconds: number;
    working_seconds: number;
  };
  working_hours: {
    company_id: number;
    employee_id: number;
    valid_from: string;
    minutes: number[];
  };
  workspaces: {
    company_id: number;
    workspace_id: GeneratedAlways<number>;
    name: string;
    is_default: boolean;
    created_at: Date;
  };
};

/** Tables whose rows belong to a company: no statement may touch one without its company_id. */
export const companyTables: ReadonlySet<string> = new Set([
  'api_key_sign_ins',
  'api_keys',
  'audit_erasures',
  'audit_log',
  'audit_seals',
  'comment_counts',
  'comment_likes',
  'comment_mentions',
  'comment_views',
  'comments',
  'companies',
  'company_counts',
  'company_day_shards',
  'company_days',
  'company_mornings',
  'employees',
  'event_streams',
  'events',
  'export_parts',
  'exports',
  'holidays',
  'imported_rows',
  'invitation_mails',
  'invitations',
  'mention_mails',
  'notification_counts',
  'notification_mails',
  'notification_preferences',
  'notification_setups',
  'notification_tallies',
  'notifications',
  'oauth_grants',
  'payments',
  'pictures',
  'project_amounts',
  'projects',
  'rates',
  'schedules',
  'storages',
  'subscriptions',
  'task_collaborators',
  'task_counts',
  'task_logs',
  'tasks',
  'time_policies',
  'timers',
  'timesheet_periods',
  'unlisted_notifications',
  'webhook_attempts',
  'webhook_messages',
  'webhooks',
  'work_days',
  'work_totals',
  'working_hours',
  'workspaces',
]);
