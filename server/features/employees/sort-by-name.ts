const collator = new Intl.Collator('en', { sensitivity: 'base' });

/** Sorts people by name, without regard to case and accents. */
export function sortByName<Person extends { name: string; employee_id: number }>(people: Person[]): Person[] {
  return people.toSorted((a, b) => collator.compare(a.name, b.name) || a.employee_id - b.employee_id);
}
