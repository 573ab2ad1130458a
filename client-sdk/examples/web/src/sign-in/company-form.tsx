import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CompanyChoice } from 'work-management-client';
import { client } from '../client.ts';
import { Icon } from '../icon.tsx';
import { explain } from '../notices.ts';
import { Problem } from '../parts.tsx';

/** One address may be somebody in several companies. */
export function CompanyForm({
  choice,
  email,
  onBack,
}: {
  choice: CompanyChoice;
  email: string;
  onBack(): void;
}): JSX.Element {
  const [problem, setProblem] = useState<string | null>(null);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);

  async function choose(company_id: number): Promise<void> {
    setProblem(null);
    try {
      await client.chooseCompany(choice, { email, company_id });
    } catch (error) {
      setProblem(explain(error));
    }
  }

  return (
    <div class="stack">
      <ul class="companies">
        {choice.companies.map(({ company_id, company_name, isAdmin }, index) => (
          <li key={company_id}>
            <button
              type="button"
              class="button wide"
              ref={index === 0 ? first : null}
              onClick={() => void choose(company_id)}
            >
              <span>{company_name}</span>
              {isAdmin && <span class="tag">Admin</span>}
              <Icon name="right" />
            </button>
          </li>
        ))}
      </ul>
      <Problem text={problem} />
      <button type="button" class="button ghost wide" onClick={onBack}>
        Sign in as somebody else
      </button>
    </div>
  );
}
