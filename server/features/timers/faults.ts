import { fault } from '../../kernel/fault.ts';

export const TIMER_RUNNING = fault('TIMER_RUNNING', 'CONFLICT', 'Your timer is running already: stop it first.');
export const TIMER_NOT_RUNNING = fault('TIMER_NOT_RUNNING', 'CONFLICT', 'You have no timer running.');
