/*
 * The content of the demo company: people, projects, tasks and comments. Days are relative to the day of the seeding,
 * so that tasks are due soon and time was logged recently.
 */

export const company = { name: 'Harbour Lane Studio', timezone: 'Europe/Lisbon', daysAgo: 20 };

export type PersonKey = keyof typeof people;

/** The first person is the admin whose sign-in is shown at the start. */
export const people = {
  amara: { first: 'Amara', last: 'Okafor', designation: 'Managing Director', salary: 96_000, isAdmin: true },
  mateo: { first: 'Mateo', last: 'Duarte', designation: 'Delivery Lead', salary: 74_000, isTeamLeader: true },
  priya: { first: 'Priya', last: 'Raman', designation: 'Product Designer', salary: 61_000 },
  jonas: { first: 'Jonas', last: 'Lindqvist', designation: 'Software Engineer', salary: 66_000 },
  mei: { first: 'Mei-Ling', last: 'Chen', designation: 'Software Engineer', salary: 68_000 },
  fatima: { first: 'Fatima', last: 'El Idrissi', designation: 'Researcher', salary: 58_000 },
  oleksandr: { first: 'Oleksandr', last: 'Kovalenko', designation: 'Contractor', salary: 45_000, isActive: false },
} as const satisfies Record<string, Person>;

type Person = {
  first: string;
  last: string;
  designation: string;
  salary: number;
  isAdmin?: boolean;
  isTeamLeader?: boolean;
  isActive?: boolean;
};

/** Minutes from Monday to Sunday of those who do not work eight hours a day. */
export const weeks: Partial<Record<PersonKey, readonly number[]>> = { mateo: [540, 540, 540, 540, 240, 0, 0] };

/** National holidays of Portugal that have the same date each year. */
export const holidays = {
  '01-01': 'New Year’s Day',
  '04-25': 'Freedom Day',
  '05-01': 'Labour Day',
  '06-10': 'Portugal Day',
  '08-15': 'Assumption Day',
  '10-05': 'Republic Day',
  '11-01': 'All Saints’ Day',
  '12-01': 'Restoration of Independence',
  '12-08': 'Immaculate Conception',
  '12-25': 'Christmas Day',
};

export type ProjectKey = keyof typeof projects;

export const projects = {
  museum: {
    name: 'Riverside Museum website',
    description: 'A new site with tickets, opening hours and the collection in three languages.',
    allocatedHours: 360,
    owner: 'mateo',
  },
  bakery: {
    name: 'Bakery ordering app',
    description: 'Order before nine, collect on the way to work.',
    // Less than is logged below, so the admin gets a notification about it.
    allocatedHours: 100,
    owner: 'amara',
  },
  studio: { name: 'Studio operations', description: null, allocatedHours: null, owner: 'amara' },
} as const satisfies Record<string, Project>;

type Project = { name: string; description: string | null; allocatedHours: number | null; owner: PersonKey };

export type TaskKey = keyof typeof tasks;
export type TaskStatus = 'todo' | 'in_progress' | 'in_review' | 'done';

type Task = {
  project: ProjectKey;
  title: string;
  status: TaskStatus;
  owner: PersonKey;
  with: readonly PersonKey[];
  /** Days from today. */
  due: number | null;
  hours: number | null;
};

export const tasks = {
  wireframes: task('museum', 'Wireframes of the ticket shop', 'done', 'priya', ['mei'], -6, 30),
  tickets: task('museum', 'Ticket checkout with timed entry', 'in_progress', 'mei', ['jonas', 'priya'], 3, 60),
  collection: task('museum', 'Import the collection from the old catalogue', 'in_review', 'jonas', ['mei'], 1, 40),
  interviews: task('museum', 'Interview twelve visitors', 'done', 'fatima', [], -3, 24),
  languages: task('museum', 'Switch languages without losing the page', 'todo', 'jonas', ['fatima'], 9, 16),
  menu: task('bakery', 'Menu that follows the oven', 'done', 'priya', ['jonas'], -1, 20),
  reminders: task('bakery', 'Remind people ten minutes before closing', 'in_progress', 'jonas', ['mateo'], -2, 12),
  payments: task('bakery', 'Refunds for what sold out', 'todo', 'mei', ['amara'], 6, 18),
  invoices: task('studio', 'Send the invoices of last month', 'in_progress', 'amara', ['mateo'], 0, 6),
  planning: task('studio', 'Plan the next quarter', 'todo', 'mateo', ['amara', 'priya'], 14, null),
};

function task(
  project: ProjectKey,
  title: string,
  status: TaskStatus,
  owner: PersonKey,
  others: readonly PersonKey[],
  due: number | null,
  hours: number | null,
): Task {
  return { project, title, status, owner, with: others, due, hours };
}

/** The tasks on which each person works alternately, on the weekdays of the last two weeks. */
export const shifts: Partial<Record<PersonKey, readonly TaskKey[]>> = {
  amara: ['invoices', 'planning'],
  mateo: ['reminders', 'planning', 'invoices'],
  priya: ['menu', 'wireframes', 'tickets'],
  jonas: ['menu', 'collection', 'reminders'],
  mei: ['tickets', 'collection'],
  fatima: ['interviews'],
};

type Decision = { state: 'approved' | 'rejected'; by: PersonKey; note: string | null };

/** Whose last week was handed in, and what was decided on it; null where it waits. */
export const periods: Partial<Record<PersonKey, Decision | null>> = {
  priya: { state: 'approved', by: 'mateo', note: null },
  jonas: { state: 'rejected', by: 'mateo', note: 'Was Thursday afternoon on the catalogue? It says reminders.' },
  mei: null,
  fatima: null,
};

export type Comment = {
  task: TaskKey;
  by: PersonKey;
  hoursAgo: number;
  message: string;
  /** The position in this list of the comment that it answers. */
  replyTo?: number;
  mentions?: readonly PersonKey[];
  likedBy?: readonly PersonKey[];
  seenBy?: readonly PersonKey[];
};

export const comments: readonly Comment[] = [
  {
    task: 'tickets',
    by: 'mei',
    hoursAgo: 52,
    message: '<p>The payment provider answers in test mode. Timed entry needs a decision: 15 or 30 minutes?</p>',
    likedBy: ['mateo'],
    seenBy: ['mateo', 'priya', 'jonas'],
  },
  {
    task: 'tickets',
    by: 'priya',
    hoursAgo: 50,
    replyTo: 0,
    message: '<p>Thirty. The visitors whom Fatima asked would rather wait in the café than in a queue.</p>',
    likedBy: ['mei', 'amara'],
    seenBy: ['mei', 'mateo'],
  },
  {
    task: 'tickets',
    by: 'mei',
    hoursAgo: 49,
    replyTo: 1,
    message: '<p>Thirty it is. I will have it on the preview by tomorrow.</p>',
    seenBy: ['priya'],
  },
  {
    task: 'tickets',
    by: 'mateo',
    hoursAgo: 26,
    message: '<p>@amara.okafor@demo.example the museum asks for a date. Shall we say Thursday?</p>',
    mentions: ['amara'],
  },
  {
    task: 'reminders',
    by: 'jonas',
    hoursAgo: 30,
    message: '<p>Reminders go out on my phone, but <strong>not</strong> when it sleeps. One more day.</p>',
    seenBy: ['mateo'],
  },
  {
    task: 'reminders',
    by: 'mateo',
    hoursAgo: 28,
    replyTo: 4,
    message: '<p>Fine, I have moved the demo. @priya.raman@demo.example could you try it on yours?</p>',
    mentions: ['priya'],
    likedBy: ['jonas'],
  },
];
