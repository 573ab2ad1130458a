/** What requests are made of. */
export type World = SignedIn & {
  companyId: number;
  /** Who calls: admins with identifiers without gaps, each with a session. The first has all the notifications. */
  callers: SignedIn[];
  email: string;
  password: string;
  /** Identifiers without gaps, each from the first on. */
  employees: Range;
  tasks: Range;
  talkedOn: Range;
  loggedOn: Range;
  comments: Range;
  projects: Range;
};
export type SignedIn = { employeeId: number; accountId: number; sessionId: number };
export type Range = { first: number; count: number };
