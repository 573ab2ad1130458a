import { defineError } from '../../errors/api-error.ts';

export const TIMER_RUNNING = defineError('TIMER_RUNNING', 'CONFLICT', 'Your timer is running already: stop it first.');
export const TIMER_NOT_RUNNING = defineError('TIMER_NOT_RUNNING', 'CONFLICT', 'You have no timer running.');
