import { defineError } from '../../errors/api-error.ts';

export const NOT_THE_SENDER = defineError(
  'NOT_THE_SENDER',
  'FORBIDDEN',
  '`sender` must be the employee who is signed in: nobody writes in the name of another.',
);

export const NOT_THE_AUTHOR = defineError('NOT_THE_AUTHOR', 'FORBIDDEN', 'Only the author of a comment may edit it.');

export const NOT_THE_AUTHOR_OR_OWNER = defineError(
  'NOT_THE_AUTHOR_OR_OWNER',
  'FORBIDDEN',
  'Only the author of a comment or the owner of its task may delete it.',
);
