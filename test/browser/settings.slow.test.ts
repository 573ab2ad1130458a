import { describe, expect, test } from 'vitest';
import { password } from '../support/service.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, overflow } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { tabTo, waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

const view = (name: string) => ({ url: `${stage.pageUrl}#/${name}` });
const sessionsOf = ({ page }: Visitor) =>
  page.getByRole('region', { name: 'Where you are signed in' }).getByRole('listitem');

describe.skipIf(!hasBrowser)(`settings${unlessSkipped}`, () => {
  test('are reached from the account menu, and lead to each other, with the keyboard', async () => {
    const { page } = await stage.visit('jonas');
    await tabTo(page, /^Your account/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Account$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    for (const [tab, heading] of [
      [/^API keys$/, 'API keys'],
      [/^Notifications$/, 'Notification preferences'],
      [/^Company$/, 'Company'],
    ] as const) {
      await tabTo(page, tab);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      expect(await focusedText(page)).toContain(heading);
    }
  });

  test('change a password, say beside the field what is wrong, and sign out everywhere else', async () => {
    const elsewhere = await stage.visit('mei');
    const mei = await stage.visit('mei', view('account'));
    const { page, button } = mei;
    await waitForCount(page, sessionsOf(mei).getByText('This one'), 1);
    const fill = async (current: string, next: string, again: string) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password', { exact: true }).fill(next);
      await page.getByLabel('New password again').fill(again);
      await button('Change the password').click();
    };
    mei.expectTrouble(/status of 40[03]/);
    await fill('wrong', 'nine purple kettles', 'nine purple kettles');
    await page.getByText('This is not your password.').waitFor();
    expect((await focusedLabel(page)).label).toBe('Current password');
    mei.expectTrouble(/status of 40[03]/);
    await fill(password, 'nine purple kettles', 'nine purple kettle');
    await page.getByText('This is not the same as above.').waitFor();
    mei.expectTrouble(/status of 40[03]/);
    await fill(password, 'password', 'password');
    await page.getByText('This one is easily guessed').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await fill(password, 'nine purple kettles', 'nine purple kettles');
    await page.getByText('Your password is changed.').waitFor();
    await waitForCount(page, sessionsOf(mei), 1);
    elsewhere.expectTrouble(/status of 401/);
    await elsewhere.page.getByText('Your session has ended.').waitFor();
    await elsewhere.signIn(emailOf.mei, 'nine purple kettles');

    await button('Mail me a link to set one').click();
    await page.getByText(`on its way to ${emailOf.mei}`).waitFor();
    await service.drain();
    expect(service.mailbox.to(emailOf.mei).at(-1)!.text).toContain('reset-password');
  });

  test('end the sessions of other devices, one or all of them, and never this one', async () => {
    const others = await Promise.all([1, 2, 3].map(async () => service.signIn(emailOf.priya)));
    const priya = await stage.visit('priya', view('account'));
    const { page, button } = priya;
    await sessionsOf(priya)
      .filter({ hasText: 'This one' })
      .getByText(/^Chrome on /)
      .waitFor();
    const before = await sessionsOf(priya).count();
    await sessionsOf(priya)
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .click();
    await waitForCount(page, sessionsOf(priya), before - 1);
    expect(await focusedText(page)).toBe('Where you are signed in');
    await button('End all others…').click();
    await button('End all others').click();
    await waitForCount(page, sessionsOf(priya), 1);
    for (const other of others) expect((await other.get('/api/sessions/')).status).toBe(401);
    await page.reload();
    await sessionsOf(priya).getByText('This one').waitFor();
  });

  test('make an API key that is shown once, works, and is revoked', async () => {
    const jonas = await stage.visit('jonas', {
      ...view('api-keys'),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page, button } = jonas;
    await page.getByText('None yet.').waitFor();
    await button('Make a key').click();
    await page.getByLabel('Name', { exact: true }).fill('Nightly import');
    // Only admins make keys that sign people in.
    expect(await page.getByRole('checkbox').count()).toBe(2);
    await page.getByLabel('Where').selectOption('in some areas');
    await page.getByLabel('Tasks', { exact: true }).selectOption('Read and write');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Where').selectOption('in all areas');
    await page.getByLabel('Ends').selectOption('in 30 days');
    await button('Make the key').click();
    const key = await page.getByLabel('The key').inputValue();
    expect(key).toMatch(/^wms_/);
    await button('Copy').click();
    await button('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    expect(await findBarriers(page)).toEqual([]);
    const headers = { authorization: `Bearer ${key}` };
    expect((await service.anonymous.get('/api/api-keys/', { headers })).status).toBe(200);
    await page.getByText('It reads. Never used.').waitFor();
    await button('I have kept it').click();
    expect(await page.getByText(key).count()).toBe(0);
    await page.reload();
    await button('Revoke Nightly import').click();
    await button('Revoke').click();
    await page.getByText('None yet.').waitFor();
    expect((await service.anonymous.get('/api/api-keys/', { headers })).status).toBe(401);
  });

  test('say that something could not be read, and read it again', async () => {
    const visitor = await stage.visit('amara');
    const { page, button } = visitor;
    for (const [name, operation, shown] of [
      ['account', 'sessions.list', 'This one'],
      ['api-keys', 'apiKeys.list', 'None yet.'],
      ['company', 'company.get', 'Profile'],
    ] as const) {
      visitor.expectTrouble(/status of 418/);
      await page.route(`**/trpc/${operation}*`, async (route) => route.fulfill({ status: 418, body: 'tea' }));
      await page.goto(view(name).url);
      await button('Try again').waitFor();
      expect(await page.getByText(shown, { exact: true }).count()).toBe(0);
      await page.unroute(`**/trpc/${operation}*`);
      await button('Try again').click();
      await page.getByText(shown).waitFor();
      await button('Try again').waitFor({ state: 'detached' });
    }
  });

  test('accept an invitation of another company, and decline one', async () => {
    const [north, south] = [
      await service.registerCompany({ name: 'North Pier' }),
      await service.registerCompany({ name: 'South Pier' }),
    ];
    for (const { post, companyId } of [north, south])
      await post('/employee/add/', { first_name: 'F', last_name: 'E', email: emailOf.fatima, companyId });
    const fatima = await stage.visit('fatima', view('account'));
    const { page } = fatima;
    // A password proves no address.
    fatima.expectTrouble(/status of 403/);
    const offer = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await offer('North Pier').getByRole('button', { name: 'Decline' }).click();
    await offer('North Pier').waitFor({ state: 'detached' });
    await offer('South Pier').getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('alert').getByText('open the link in the invitation mail').waitFor();
  });
});

describe.skipIf(!hasBrowser)(`the company${unlessSkipped}`, () => {
  test('is renamed and moved to another time zone by an admin; others read', async () => {
    const founder = await service.registerCompany({ name: 'Old Name', firstName: 'Wanda' });
    const colleague = await service.addEmployee(founder);
    await service.signIn(founder.email);
    const visitor = await stage.arrive(view('company'));
    const { page, button } = visitor;
    await visitor.signIn(founder.email);
    await page.getByText(/^2 (of \d+ )?people/).waitFor();
    await page.getByText('Trial', { exact: true }).waitFor();
    await page.getByText('All plans').click();
    await page.getByText('Yours').waitFor();
    await page.getByLabel('Name').fill('New Name');
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'New Name' }).waitFor();
    const path = `/company/${founder.companyId}/details/`;
    expect((await founder.get(path)).body.company).toMatchObject({ name: 'New Name', timezone: 'Asia/Tokyo' });

    // Somebody else was faster.
    await page.getByLabel('Name').fill('Newest Name');
    await founder.put(`/company/${founder.companyId}/update/`, { name: 'Their Name' });
    await button('Save').click();
    await page.getByText('Somebody has changed this in the meantime, to “Their Name”').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect((await founder.get(path)).body.company.name).toBe('Their Name');
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    expect((await founder.get(path)).body.company.name).toBe('Newest Name');

    await service.signIn(colleague.email);
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
    const reader = await stage.arrive({ ...view('company'), ...phone });
    await reader.signIn(colleague.email);
    await reader.page.getByText('Asia/Tokyo').waitFor();
    expect(await reader.button('Save').count()).toBe(0);
    expect(await overflow(reader.page)).toBe(0);
  });
});
