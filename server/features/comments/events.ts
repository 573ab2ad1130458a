export const streamName = 'task';

/** The stream of the talk on a task. */
export const streamOf = (taskId: number): string => `${streamName} ${taskId}`;
