import type { Db } from '../../../db/open.ts';
import { validationFailed } from '../../errors/errors.ts';
import type { Issue } from '../../errors/issues.ts';
import type { Person } from './comment-rows.ts';

export const mentionedEmailsMax = 20;
/** The most different addresses of one text that are looked up. */
export const textMentionsMax = 100;

// Each part is delimited by characters that it cannot contain, so a hostile text is read once or twice, not n times.
const mention = /(?<![\w.@+'-])@([\w.+'-]{1,64}@[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)+)/gi;

/** The addresses that a text mentions as `@ada@example.com`, in lower case, each once. */
export function addressesIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, address = ''] of text.matchAll(mention)) {
    found.add(address.toLowerCase());
    if (found.size >= textMentionsMax) break;
  }
  return [...found];
}

/**
 * Returns the mentioned people: everybody on the list, where an address of no active employee is an error, active
 * employees in the text, where other addresses are plain text, and active employees of an earlier list, from which people
 * may have left since.
 */
export async function resolveMentions(
  db: Db,
  companyId: number,
  { listed, kept = [], text }: { listed: string[]; kept?: string[]; text: string },
): Promise<Person[]> {
  const addresses = [...new Set([...listed, ...kept, ...addressesIn(text)])];
  if (addresses.length === 0) return [];
  const people = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('email', '=', eb.fn.any(eb.val(addresses))))
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select(['employee_id', 'name', 'email', 'picture_id'])
    .orderBy('employee_id')
    // Nobody is erased until the comment with their address is committed.
    .forKeyShare()
    .execute();
  const known = new Set(people.map((person) => person.email));
  const issues = listed.flatMap((address, index): Issue[] =>
    known.has(address)
      ? []
      : [
          {
            path: ['mentionedEmails', index],
            message: `${address} is no active employee of your company`,
            code: 'not_found',
          },
        ],
  );
  if (issues.length > 0) throw validationFailed(issues);
  return people;
}
