/** The application areas of notifications, with the interface's names. */
export const appTypes = ['hr', 'task'] as const;
export const categories = ['task', 'project', 'need_attention', 'message', 'notice'] as const;
export const priorities = ['primary', 'updates', 'others', 'activity'] as const;
