// Made by `npm run generate` from the definitions of the operations; do not edit.

/**
 * What the client must know of each operation: its kind, `open` where it needs no sign-in, `paged` where it answers
 * a page, `bare` where it takes no input, `unkeyed` where an Idempotency-Key does nothing.
 */
export const operations: Record<string, Record<string, string>> = {
  auth: {
    login: 'open unkeyed mutation',
    googleLogin: 'open unkeyed mutation',
    appleLogin: 'open unkeyed mutation',
    verifyEmail: 'open unkeyed mutation',
    otpLogin: 'open unkeyed mutation',
    tokenLogin: 'open unkeyed mutation',
    refresh: 'open unkeyed mutation',
    logout: 'mutation bare',
  },
  registration: {
    requestCode: 'open unkeyed mutation',
    registerCompany: 'open unkeyed mutation',
  },
  passwords: {
    requestReset: 'open unkeyed mutation',
    reset: 'open unkeyed mutation',
    change: 'mutation',
  },
  sessions: {
    list: 'query bare',
    end: 'mutation',
  },
  apiKeys: {
    create: 'unkeyed mutation',
    list: 'query bare',
    revoke: 'mutation',
  },
  company: {
    get: 'query',
    update: 'mutation',
  },
  employees: {
    create: 'mutation',
    list: 'query',
    listActive: 'query',
    listInactive: 'query',
    get: 'query',
    update: 'mutation',
    updatePicture: 'mutation',
    search: 'query',
    delete: 'mutation',
    restore: 'mutation',
    getAccess: 'query',
    endSessions: 'mutation',
    endApiKeys: 'mutation',
  },
  invitations: {
    list: 'query bare',
    accept: 'unkeyed mutation',
    decline: 'mutation',
  },
  projects: {
    create: 'mutation',
    list: 'paged query',
    get: 'query',
    update: 'mutation',
    delete: 'mutation',
    onCompany: 'subscription',
  },
  tasks: {
    create: 'mutation',
    list: 'paged query',
    get: 'query',
    update: 'mutation',
    delete: 'mutation',
    onProject: 'subscription',
  },
  taskLogs: {
    create: 'mutation',
    bulkCreate: 'mutation',
    listByTask: 'query',
    update: 'mutation',
    delete: 'mutation',
  },
  timers: {
    start: 'mutation',
    stop: 'mutation',
    discard: 'mutation',
    get: 'query',
    onMine: 'subscription',
  },
  timesheets: {
    get: 'query',
  },
  timePolicies: {
    get: 'query',
    update: 'mutation',
  },
  rates: {
    list: 'query',
    set: 'mutation',
    delete: 'mutation',
    applyToLogs: 'mutation',
  },
  timesheetPeriods: {
    submit: 'mutation',
    withdraw: 'mutation',
    decide: 'mutation',
    reopen: 'mutation',
    list: 'query',
  },
  workingHours: {
    list: 'query',
    set: 'mutation',
  },
  holidays: {
    list: 'query',
    replace: 'mutation',
  },
  balances: {
    get: 'query',
  },
  statistics: {
    company: 'query',
    performance: 'query',
  },
  comments: {
    listByTask: 'query',
    create: 'mutation',
    update: 'mutation',
    delete: 'mutation',
    like: 'mutation',
    unlike: 'mutation',
    onTask: 'subscription',
  },
  notifications: {
    list: 'paged query',
    countUnread: 'query',
    read: 'mutation',
    readAll: 'mutation',
    update: 'mutation',
    delete: 'mutation',
    clear: 'mutation',
    getPreferences: 'query',
    updatePreferences: 'mutation',
    onMine: 'subscription',
  },
  webhooks: {
    create: 'unkeyed mutation',
    list: 'query',
    get: 'query',
    update: 'mutation',
    delete: 'mutation',
    rotateSecret: 'unkeyed mutation',
    test: 'mutation',
    recover: 'mutation',
    deliveries: 'query',
    resend: 'mutation',
  },
  audit: {
    list: 'query',
    export: 'query',
    verify: 'query',
  },
};

/** Where files come from, and their media types. */
export const downloads: Record<string, readonly [template: string, mediaType: string]> = {
  'timesheets.csv': ['/api/timesheets/{company_id}/?format=csv', 'text/csv'],
  'timesheets.xlsx': ['/api/timesheets/{company_id}/?format=xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  'timesheets.pdf': ['/api/timesheets/{company_id}/?format=pdf', 'application/pdf'],
  'audit.csv': ['/api/audit/company/{company_id}/export/?format=csv', 'text/csv'],
  'audit.jsonl': ['/api/audit/company/{company_id}/export/?format=jsonl', 'application/jsonl'],
};
