import type { JSX } from 'preact';
import type { NotificationPreferences } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { write } from '../network.ts';
import { announce, attempt } from '../notices.ts';
import { Loading, Problem } from '../parts.tsx';
import { SettingsHead } from '../settings/settings-head.tsx';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';

type Category = keyof NotificationPreferences;
type Way = 'inApp' | 'email';

const categories: Record<Category, { name: string; about: string }> = {
  task: { name: 'Tasks', about: 'One is yours now, you work on it, or it is due tomorrow' },
  project: { name: 'Projects', about: 'You own one now, or its hours are exceeded' },
  message: { name: 'Comments', about: 'Comments and likes; by mail, only where you are mentioned' },
  need_attention: { name: 'What waits for you', about: 'A task is overdue, or a timer ran for a whole day' },
  notice: { name: 'Notices', about: 'News of the company' },
};

/** Where the link at the end of a mail leads: how one wants to be told, for each category. */
export function Preferences(): JSX.Element {
  useTitle('Notification preferences');
  const { _id: employee_id } = getMe();
  const { value, problem, reload } = useLoad(
    async (signal) => client.notifications.getPreferences({ employee_id }, { signal }),
    [],
  );

  async function change(category: Category, ways: NotificationPreferences[Category]): Promise<void> {
    const isSaved = await attempt(() =>
      write(() => client.notifications.updatePreferences({ employee_id, [category]: ways })),
    );
    if (isSaved) announce('Saved');
    reload();
  }

  return (
    <>
      <SettingsHead heading="Notification preferences" />
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading your preferences" lines={5} />}
      {value && (
        <section class="card preferences">
          <table>
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">In the app</th>
                <th scope="col">By mail</th>
              </tr>
            </thead>
            <tbody>
              {(Object.keys(categories) as Category[]).map((category) => (
                <tr key={category}>
                  <th scope="row">
                    {categories[category].name}
                    <span>{categories[category].about}</span>
                  </th>
                  {(['inApp', 'email'] as const).map((way) => (
                    <td key={way}>
                      <Choice
                        label={`${categories[category].name}, ${way === 'inApp' ? 'in the app' : 'by mail'}`}
                        way={way}
                        ways={value[category]}
                        onChange={(ways) => void change(category, ways)}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

function Choice({
  label,
  way,
  ways,
  onChange,
}: {
  label: string;
  way: Way;
  ways: NotificationPreferences[Category];
  onChange: (ways: NotificationPreferences[Category]) => void;
}): JSX.Element {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={ways[way]}
      onChange={(event) => onChange({ ...ways, [way]: event.currentTarget.checked })}
    />
  );
}
