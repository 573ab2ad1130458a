/*
 * The streams of change events. A project has one of its own for its tasks and their logs, because a sequence number is
 * taken under the row lock of its stream: one stream for the tasks of a company would serialize all its writers. What is
 * appended to a company's stream changes rarely; no subscription reads that one, nor that of its periods.
 */

/** The names of these streams. */
export const changeStream = {
  /** Tasks and task logs of a project. */
  project: (projectId: number): string => `project ${projectId}`,
  /** The projects of a company, without what happens in them. */
  projects: (companyId: number): string => `projects ${companyId}`,
  /** The timer of an employee. */
  timers: (employeeId: number): string => `timers ${employeeId}`,
  /** Periods that employees hand in. */
  periods: (companyId: number): string => `periods ${companyId}`,
  /** The company itself, its employees and their API keys. */
  company: (companyId: number): string => `company ${companyId}`,
};
