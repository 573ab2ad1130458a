import { defineError } from '../../errors/api-error.ts';

export const OWNER_REQUIRED = defineError('OWNER_REQUIRED', 'FORBIDDEN', 'Only the owner of the company may do this.');
