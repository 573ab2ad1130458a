/** What requests are made of. */
export type World = {
  companyId: number;
  /** Who calls: an admin, the recipient of the notifications, the author of what is written. */
  employeeId: number;
  accountId: number;
  sessionId: number;
  email: string;
  password: string;
  /** Identifiers without gaps, each from the first on. */
  employees: Range;
  tasks: Range;
  talkedOn: Range;
  loggedOn: Range;
};
export type Range = { first: number; count: number };
