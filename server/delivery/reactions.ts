import { sendCode } from '../features/auth/codes.ts';
import type { Reaction } from '../kernel/reaction.ts';

/** Every reaction that a delivery may name. */
export const reactions = [sendCode] as unknown as Reaction<never>[];
