import { beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, overflow } from './in-page.ts';
import { emailOf, setStage } from './stage.ts';
import { strangeNames } from './strange-names.ts';
import { tabTo, waitForCount, type Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

const rows = ({ page }: Visitor) => page.locator('.directory-row');
const person = async (actor: Actor, employeeId: number) => (await actor.get(`/employee/me/${employeeId}/`)).body;
const idOf = (visitor: Visitor) => Number(/\/people\/(\d+)$/.exec(visitor.page.url())![1]);

describe.skipIf(!hasBrowser)(`people${unlessSkipped}`, () => {
  test('are found by name, address and job title, with any accents, by everybody', async () => {
    const fatima = await stage.visit('fatima');
    const { page, button } = fatima;
    await tabTo(page, /^People$/);
    await page.keyboard.press('Enter');
    await waitForCount(page, rows(fatima), 6);
    const search = page.getByRole('searchbox');
    await tabTo(page, /^Search by name/);
    await page.keyboard.type('ENGINÉER lindq');
    await waitForCount(page, rows(fatima), 1);
    await rows(fatima).getByText('Jonas Lindqvist').waitFor();
    await search.fill('oleks');
    await page.getByText('Nobody who is active is called so').waitFor();
    await button('Inactive 1').click();
    await rows(fatima).getByText('Oleksandr Kovalenko').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    // Nothing here is for somebody who is no admin.
    expect(await button('Invite somebody').count()).toBe(0);
    await button('Active 0').click();
    await search.fill('mateo');
    await page.getByRole('link', { name: 'Mateo Duarte' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mateo Duarte' }).waitFor();
    await page.getByRole('link', { name: emailOf.mateo }).waitFor();
    // Neither figures nor rights are for her.
    expect(await page.getByRole('region').allInnerTexts()).toHaveLength(1);
    expect(await button('Edit').count()).toBe(0);
    await page.goto(`${stage.pageUrl}#/people/999999`);
    await page.getByRole('heading', { name: 'This person is not there' }).waitFor();
  });

  test('are invited by an admin with the keyboard alone; who is there already is shown', async () => {
    const amara = await stage.visit('amara', { url: `${stage.pageUrl}#/people` });
    const { page } = amara;
    const { keyboard } = page;
    const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
    await amara.button('Invite somebody').waitFor();
    await tabTo(page, /^Invite somebody$/);
    await keyboard.press('Enter');
    await dialog.waitFor();
    await keyboard.type('Rosa');
    await tabTo(page, /^Last name$/);
    await keyboard.type('Almeida');
    await tabTo(page, /^E-mail address$/);
    await keyboard.type(emailOf.jonas.toUpperCase());
    amara.expectTrouble(/status of 409/);
    await keyboard.press('Enter');
    await dialog.getByText('who is an employee already').waitFor();
    await dialog.getByRole('link', { name: 'Jonas Lindqvist' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    // The focus is in the field that was wrong.
    await keyboard.press('ControlOrMeta+A');
    await keyboard.type('rosa@example.com');
    await keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await focusedText(page)).toBe('Invite somebody');
    await rows(amara).filter({ hasText: 'Rosa Almeida' }).getByText('Invited').waitFor();
    await service.drain();
    expect(service.mailbox.to('rosa@example.com').map(({ template }) => template)).toEqual(['invitation']);
    await page.getByRole('link', { name: 'Rosa Almeida' }).click();
    await amara.button('Invite again').click();
    await page.getByRole('log').getByText('Invited again').waitFor({ state: 'attached' });
    await service.drain();
    expect(service.mailbox.to('rosa@example.com')).toHaveLength(2);
  });

  test('are changed by an admin; what cannot be is told and not shown as if it were', async () => {
    const admin = await service.signIn(emailOf.amara);
    const amara = await stage.visit('amara', { url: `${stage.pageUrl}#/people` });
    const { page, button, alert } = amara;
    await page.getByRole('link', { name: 'Priya Raman' }).click();
    await page.getByRole('heading', { level: 1, name: 'Priya Raman' }).waitFor();
    await page.getByText('Last active').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const priyaId = idOf(amara);
    await page.getByRole('checkbox', { name: 'Team leader' }).check();
    await page.getByRole('log').getByText('Is a team leader now').waitFor({ state: 'attached' });
    await page.locator('.person-head').getByText('Team leader').waitFor();
    expect(await person(admin, priyaId)).toMatchObject({ isTeamLeader: true, isAdmin: false });

    await button('Deactivate…').click();
    await page.getByRole('dialog', { name: 'Deactivate Priya Raman?' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await focusedText(page)).toBe('Deactivate…');
    await button('Deactivate…').click();
    await button('Deactivate').click();
    await page.getByText('Is inactive').waitFor();
    expect(await focusedText(page)).toBe('Rights');
    await page.getByText('Figures are shown of people who are active.').waitFor();
    await button('Delete…').click();
    await button('Delete').click();
    await page.getByText('Was deleted.').waitFor();
    expect(await person(admin, priyaId)).toMatchObject({ isDeleted: true, isActive: false });
    await button('Restore').click();
    await page.getByText('Is active.').waitFor();
    expect(await person(admin, priyaId)).toMatchObject({ isDeleted: false, isActive: true });

    await page.goto(`${stage.pageUrl}#/people/${admin.employeeId}`);
    amara.expectTrouble(/status of 409/);
    const isAdmin = page.getByRole('checkbox', { name: 'Admin' });
    await isAdmin.click();
    await alert.getByText('This is the last active admin').waitFor();
    await expect.poll(() => isAdmin.isChecked()).toBe(true);
  });

  test('are signed out by an admin, and their keys end', async () => {
    const actor = await service.signIn(emailOf.jonas);
    const key = { name: 'Lost laptop', scopes: ['read'] };
    const { body: made } = await actor.post('/api/api-keys/', key);
    const jonas = await stage.visit('jonas');
    const amara = await stage.visit('amara', { url: `${stage.pageUrl}#/people/${actor.employeeId}` });
    const { page, button } = amara;
    const access = page.getByRole('region', { name: 'Access' });
    await access.getByText('Lost laptop').waitFor();
    await button('End all keys…').click();
    await button('End all keys').click();
    await access.getByText('Lost laptop').waitFor({ state: 'detached' });
    expect(await focusedText(page)).toBe('Access');
    const headers = { authorization: `Bearer ${made.key}` };
    expect((await service.anonymous.get('/api/api-keys/', { headers })).status).toBe(401);
    jonas.expectTrouble(/status of 401/);
    await button('End all sessions…').click();
    await button('End all sessions').click();
    await page.getByText('Nowhere signed in, and no API keys.').waitFor();
    await jonas.page.getByText('Your session has ended.').waitFor();
  });

  test('are not changed unseen where somebody else has changed the same', async () => {
    const admin = await service.signIn(emailOf.amara);
    const amara = await stage.visit('amara', { url: `${stage.pageUrl}#/people` });
    const { page, button } = amara;
    await page.getByRole('link', { name: 'Mei-Ling Chen' }).click();
    await button('Edit').click();
    const dialog = page.getByRole('dialog', { name: 'Edit' });
    await dialog.getByLabel('Job title').fill('Architect');
    const meiId = idOf(amara);
    await admin.patch(`/api/employees/${meiId}/`, { designation: 'Principal', phone: '+351 1' });
    await button('Save').click();
    await dialog.getByText('Somebody has changed this in the meantime, to “Principal”').waitFor();
    expect(await person(admin, meiId)).toMatchObject({ designation: 'Principal' });
    await button('Save').click();
    await dialog.waitFor({ state: 'detached' });
    expect(await person(admin, meiId)).toMatchObject({ designation: 'Architect', phone: '+351 1' });
    await page.getByText('+351 1').waitFor();
    await button('Edit').click();
    await dialog.getByLabel('E-mail address').fill(emailOf.jonas);
    amara.expectTrouble(/status of 409/);
    await button('Save').click();
    await dialog.getByText('Somebody of the company has it already.').waitFor();
    expect((await focusedLabel(page)).label).toBe('E-mail address');
  });

  describe('with all kinds of names', () => {
    let wanda: Actor;

    beforeAll(async () => {
      wanda = await service.registerCompany({ name: 'Every Name', firstName: 'Wanda' });
      for (const [index, name] of strangeNames.entries()) {
        const added = { first_name: 'Somebody', last_name: `Strange${index}`, companyId: wanda.companyId };
        const { body } = await wanda.post('/employee/add/', { ...added, email: `strange${index}@example.com` });
        await wanda.patch(`/api/employees/${body._id}/`, { name });
      }
    });

    test('fit the list and their own page on a phone', async () => {
      await service.signIn(wanda.email);
      const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
      const visitor = await stage.arrive({ url: `${stage.pageUrl}#/people`, ...phone });
      const { page } = visitor;
      await visitor.signIn(wanda.email);
      await waitForCount(page, rows(visitor), strangeNames.length + 1);
      const shown = await rows(visitor).getByRole('link').allInnerTexts();
      expect(shown.toSorted((a, b) => a.localeCompare(b))).toEqual(
        [...strangeNames, 'Wanda Lovelace'].toSorted((a, b) => a.localeCompare(b)),
      );
      expect(await overflow(page)).toBe(0);
      await page.getByRole('searchbox').fill('<b>');
      await page.getByRole('link', { name: '<b>Bold</b> & Sons' }).tap();
      await page.getByRole('heading', { level: 1, name: '<b>Bold</b> & Sons' }).waitFor();
      await page.getByText('has not accepted the invitation yet').waitFor();
      expect(await overflow(page)).toBe(0);
    });
  });

  test('beyond the plan are not invited, and the sentence says what to do', async () => {
    const founder = await service.registerCompany({ name: 'Full House', firstName: 'Wanda' });
    await service.database.db.updateTable('plans').set({ max_employees: 1 }).execute();
    await service.signIn(founder.email);
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#/people` });
    await visitor.signIn(founder.email);
    visitor.expectTrouble(/status of 409/);
    await visitor.button('Invite somebody').click();
    await visitor.page.getByLabel('First name').fill('One');
    await visitor.page.getByLabel('Last name').fill('More');
    await visitor.page.getByLabel('E-mail address', { exact: true }).fill('one.more@example.com');
    await visitor.button('Send the invitation').click();
    await visitor.alert.getByText(/has 1 places, and all are taken: deactivate somebody/).waitFor();
  });
});
