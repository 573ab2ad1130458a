import type { AnyReaction } from '../../kernel/reaction.ts';
import { sendInvitation } from './invitation.ts';

/** What this feature owes the outside because of its facts. */
export const reactions: AnyReaction[] = [sendInvitation];
