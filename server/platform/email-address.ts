import { z } from 'zod';

/** An e-mail address, compared without regard to case: it is stored in lower case. */
export const emailAddress = z.string().trim().max(254).toLowerCase().pipe(z.email('must be an e-mail address'));
