// Made by `npm run generate` from the definitions of the operations; do not edit.

/**
 * What the client must know of each operation: its kind, `open` where it needs no sign-in, `paged` where it answers
 * a page, `bare` where it takes no input, `unkeyed` where an Idempotency-Key does nothing, and each field that is taken
 * from the session where it is absent.
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
    change: 'mutation employee_id=employee',
  },
  sessions: {
    list: 'query bare',
    end: 'mutation',
  },
  apiKeys: {
    create: 'unkeyed mutation',
    list: 'query bare',
    getCurrent: 'query bare',
    revoke: 'mutation',
  },
  oauth: {
    authorizeClient: 'unkeyed mutation',
  },
  company: {
    get: 'query company_id=company',
    update: 'mutation company_id=company',
    close: 'mutation company_id=company',
    reopen: 'mutation company_id=company',
  },
  employees: {
    create: 'mutation companyId=company',
    list: 'query company_id=company',
    listActive: 'query company_id=company',
    listInactive: 'query company_id=company',
    get: 'query',
    update: 'mutation',
    updatePicture: 'mutation',
    search: 'query company_id=company',
    delete: 'mutation',
    restore: 'mutation',
    erase: 'mutation',
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
    list: 'paged query company_id=company',
    get: 'query',
    update: 'mutation',
    delete: 'mutation',
    onCompany: 'subscription',
  },
  tasks: {
    create: 'mutation',
    list: 'paged query company_id=company',
    get: 'query',
    update: 'mutation',
    delete: 'mutation',
    onProject: 'subscription',
  },
  taskLogs: {
    create: 'mutation employee_id=employee',
    bulkCreate: 'mutation',
    listByTask: 'query',
    update: 'mutation',
    delete: 'mutation',
  },
  csvImports: {
    run: 'mutation',
  },
  timers: {
    start: 'mutation',
    stop: 'mutation',
    discard: 'mutation employee_id=employee',
    get: 'query employee_id=employee',
    onMine: 'subscription',
  },
  timesheets: {
    get: 'query company_id=company',
  },
  timePolicies: {
    get: 'query company_id=company',
    update: 'mutation company_id=company',
  },
  rates: {
    list: 'paged query company_id=company',
    set: 'mutation company_id=company',
    delete: 'mutation company_id=company',
    applyToLogs: 'mutation',
  },
  timesheetPeriods: {
    submit: 'mutation employee_id=employee',
    withdraw: 'mutation',
    decide: 'mutation',
    reopen: 'mutation',
    list: 'paged query company_id=company',
  },
  workingHours: {
    list: 'query employee_id=employee',
    set: 'mutation',
  },
  holidays: {
    list: 'query company_id=company',
    replace: 'mutation company_id=company',
  },
  balances: {
    get: 'query employee_id=employee',
  },
  statistics: {
    company: 'query company_id=company',
    performance: 'query company_id=company',
  },
  comments: {
    listByTask: 'query',
    create: 'mutation sender=employee',
    update: 'mutation',
    delete: 'mutation',
    like: 'mutation employee_id=employee',
    unlike: 'mutation employee_id=employee',
    onTask: 'subscription',
  },
  notifications: {
    list: 'paged query recipient_id=employee',
    countUnread: 'query user_id=employee',
    read: 'mutation',
    readAll: 'mutation user_id=employee',
    update: 'mutation',
    delete: 'mutation',
    clear: 'mutation user_id=employee',
    getPreferences: 'query employee_id=employee',
    updatePreferences: 'mutation employee_id=employee',
    onMine: 'subscription',
  },
  webhooks: {
    create: 'unkeyed mutation',
    list: 'query company_id=company',
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
    list: 'paged query company_id=company',
    export: 'query company_id=company',
    verify: 'query company_id=company',
  },
  exports: {
    create: 'mutation',
    list: 'query company_id=company',
    get: 'query',
    delete: 'mutation',
  },
  search: {
    company: 'paged query company_id=company',
  },
};

/** Files: the operation of each, where it comes from, and its media type. */
export const downloads: Record<string, readonly [operation: string, template: string, mediaType: string]> = {
  'timesheets.csv': ['timesheets.get', '/api/timesheets/{company_id}/?format=csv', 'text/csv'],
  'timesheets.xlsx': ['timesheets.get', '/api/timesheets/{company_id}/?format=xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  'timesheets.pdf': ['timesheets.get', '/api/timesheets/{company_id}/?format=pdf', 'application/pdf'],
  'audit.csv': ['audit.export', '/api/audit/company/{company_id}/export/?format=csv', 'text/csv'],
  'audit.jsonl': ['audit.export', '/api/audit/company/{company_id}/export/?format=jsonl', 'application/jsonl'],
};
