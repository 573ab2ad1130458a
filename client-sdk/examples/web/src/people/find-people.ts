import type { Employee } from 'work-management-client';

export type Standing = 'active' | 'inactive' | 'deleted';

export const standings: readonly Standing[] = ['active', 'inactive', 'deleted'];

export const standingOf = ({ isActive, isDeleted }: Employee): Standing =>
  isDeleted ? 'deleted' : isActive ? 'active' : 'inactive';

const byName = new Intl.Collator('en', { sensitivity: 'base' });

/** Without case and accents. */
const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Those in whose name, address or job title each word occurs, by name. */
export function findPeople(people: readonly Employee[], search: string): Employee[] {
  const words = fold(search).split(/\s+/);
  return people
    .filter(({ name, email, designation }) => {
      const text = fold(`${name} ${email} ${designation ?? ''}`);
      return words.every((word) => text.includes(word));
    })
    .toSorted((a, b) => byName.compare(a.name, b.name) || a._id - b._id);
}
