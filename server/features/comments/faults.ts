import { fault } from '../../kernel/fault.ts';

export const NOT_THE_SENDER = fault(
  'NOT_THE_SENDER',
  'FORBIDDEN',
  '`sender` must be the employee who is signed in: nobody writes in the name of another.',
);

export const NOT_THE_AUTHOR = fault('NOT_THE_AUTHOR', 'FORBIDDEN', 'Only the author of a comment may edit it.');

export const NOT_THE_AUTHOR_OR_OWNER = fault(
  'NOT_THE_AUTHOR_OR_OWNER',
  'FORBIDDEN',
  'Only the author of a comment or the owner of its task may delete it.',
);
