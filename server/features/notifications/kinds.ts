/** What notifications are sorted by, as the interface names it. */
export const appTypes = ['hr', 'task'] as const;
export const categories = ['task', 'project', 'need_attention', 'message', 'notice'] as const;
export const priorities = ['primary', 'updates', 'others', 'activity'] as const;
