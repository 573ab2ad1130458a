import type { Db } from '../../../db/open.ts';
import { validationFailed } from '../../errors/errors.ts';
import type { Issue } from '../../errors/issues.ts';
import type { Person } from './comment-rows.ts';

export const mentionedEmailsMax = 20;
/** How many different addresses of one text are looked up. */
export const textMentionsMax = 100;

// Every part stands between characters that it cannot hold itself, so a hostile text is read once or twice, not n times.
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
 * Who is mentioned: everybody on the list, where one who is no active employee of the company is refused by name,
 * and those named in the text who are; an address of nobody's is just text.
 */
export async function resolveMentions(
  db: Db,
  companyId: number,
  { listed, text }: { listed: string[]; text: string },
): Promise<Person[]> {
  const addresses = [...new Set([...listed, ...addressesIn(text)])];
  if (addresses.length === 0) return [];
  const people = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('email', '=', eb.fn.any(eb.val(addresses))))
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select(['employee_id', 'name', 'email', 'picture_id'])
    .orderBy('employee_id')
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
