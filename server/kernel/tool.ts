/** The tools that agents are offered at /mcp; server/surfaces/mcp/descriptions.ts describes each. */
export const toolNames = [
  'who_am_i',
  'search',
  'list_tasks',
  'get_task',
  'save_task',
  'comment',
  'list_projects',
  'save_project',
  'people',
  'timer',
  'log_time',
  'timesheet',
  'submit_week',
  'notifications',
  'mark_notifications',
  'delete',
] as const;
export type ToolName = (typeof toolNames)[number];

/** When a record was made and changed last: a third of what it costs in a list. Reading the one record shows both. */
export const stamps = ['createdAt', 'updatedAt'] as const;

/**
 * The part that an operation has in a tool. Arguments, scopes and results follow from the operation itself, which is
 * called as over any other transport. A tool of several operations says by `when`, `action` or `include` which is meant.
 */
export type ToolUse = {
  name: ToolName;
  /** The argument that, where it is given, chooses this operation over the one that names none. */
  when?: string;
  /** The value of the argument `action` that chooses it. */
  action?: string;
  /** The word in the argument `include` that adds its answer to the result. */
  include?: string;
  /** Fields of the input that are no arguments. The caller's own identifier is filled in, of others the default holds. */
  hides?: readonly string[];
  /** Fields of the input that always have these values. */
  sends?: Readonly<Record<string, unknown>>;
  /** Descriptions of arguments, where that of the field says what does not hold for agents. */
  describes?: Readonly<Record<string, string>>;
  /** Fields of the answer that are left out, at any depth: agents pay for each word. */
  leavesOut?: readonly string[];
  /** Fields of the answer that hold rich text, which is shown as plain text. */
  richText?: readonly string[];
};
