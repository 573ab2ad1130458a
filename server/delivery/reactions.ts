import { sendCode } from '../features/auth/codes.ts';
import { reactions as ofComments } from '../features/comments/reactions.ts';
import { reactions as ofEmployees } from '../features/employees/reactions.ts';
import { reactions as ofTaskLogs } from '../features/task-logs/reactions.ts';
import { reactions as ofTimers } from '../features/timers/reactions.ts';
import { sendResetLink } from '../features/passwords/reset-link.ts';
import type { AnyReaction } from '../kernel/reaction.ts';

/** Every reaction that a delivery may name. */
export const reactions: AnyReaction[] = [
  sendCode,
  sendResetLink,
  ...ofEmployees,
  ...ofTaskLogs,
  ...ofTimers,
  ...ofComments,
];
