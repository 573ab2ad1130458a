import type { AnyReaction } from '../../kernel/reaction.ts';

/** What this feature owes the outside because of its facts. */
export const reactions: AnyReaction[] = [];
