import { fault } from '../../kernel/fault.ts';

export const NOT_THE_SENDER = fault(
  'NOT_THE_SENDER',
  'FORBIDDEN',
  '`sender` must be the employee who is signed in: nobody writes in the name of another.',
);
