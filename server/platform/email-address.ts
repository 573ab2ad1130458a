import { z } from 'zod';

/**
 * An e-mail address, compared without regard to case: it is stored in lower case. It is checked first, because the lower case of
 * the Kelvin sign is the letter k, so an address with this sign would be taken for another one.
 */
export const emailAddress = z.string().trim().max(254).pipe(z.email('must be an e-mail address').toLowerCase());
