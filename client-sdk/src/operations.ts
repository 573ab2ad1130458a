// Made by `npm run generate` from the definitions of the operations; do not edit.

/**
 * What the client must know of each operation: its kind, `open` where it needs no sign-in, `paged` where it answers
 * a page, `bare` where it takes no input.
 */
export const operations: Record<string, Record<string, string>> = {
  auth: {
    login: 'open mutation',
    googleLogin: 'open mutation',
    appleLogin: 'open mutation',
    verifyEmail: 'open mutation',
    otpLogin: 'open mutation',
    tokenLogin: 'open mutation',
    refresh: 'open mutation',
    logout: 'mutation bare',
  },
  registration: {
    requestCode: 'open mutation',
    registerCompany: 'open mutation',
  },
  passwords: {
    requestReset: 'open mutation',
    reset: 'open mutation',
    change: 'mutation',
  },
  sessions: {
    list: 'query bare',
    end: 'mutation',
  },
  apiKeys: {
    create: 'mutation',
    list: 'query bare',
    revoke: 'mutation',
  },
  company: {
    details: 'query',
    update: 'mutation',
  },
  employees: {
    add: 'mutation',
    list: 'query',
    listActive: 'query',
    listInactive: 'query',
    get: 'query',
    update: 'mutation',
    updatePicture: 'mutation',
    search: 'query',
    remove: 'mutation',
    restore: 'mutation',
  },
  projects: {
    create: 'mutation',
    list: 'paged query',
    get: 'query',
    update: 'mutation',
    remove: 'mutation',
  },
  tasks: {
    create: 'mutation',
    list: 'paged query',
    get: 'query',
    update: 'mutation',
    remove: 'mutation',
  },
  taskLogs: {
    create: 'mutation',
    bulkCreate: 'mutation',
    listByTask: 'query',
    update: 'mutation',
    remove: 'mutation',
  },
  timers: {
    start: 'mutation',
    stop: 'mutation',
    get: 'query',
  },
  timesheets: {
    get: 'query',
  },
  statistics: {
    company: 'query',
    performance: 'query',
  },
  comments: {
    listByTask: 'query',
    create: 'mutation',
    edit: 'mutation',
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
    setPreferences: 'mutation',
    onMine: 'subscription',
  },
};

/** Where files come from. */
export const downloads: Record<string, string> = {
  'timesheets.csv': '/api/timesheets/{company_id}/?format=csv',
};
