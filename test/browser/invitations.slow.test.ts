import { describe, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { hasBrowser, unlessSkipped } from './browser.ts';
import { overflow } from './in-page.ts';
import { artifact, emailOf, setStage } from './stage.ts';
import type { Visitor } from './visitor.ts';

const stage = await setStage();
const { service } = stage;

async function invite(admin: Actor, email: string): Promise<void> {
  const person = { first_name: 'Nadia', last_name: 'Petrov', email, companyId: admin.companyId };
  const { status, body } = await admin.post('/employee/add/', person);
  if (status !== 200) throw new Error(JSON.stringify(body));
  await service.drain();
}

async function signInByCode({ page, button }: Visitor, email: string): Promise<void> {
  await button('Mailed code').click();
  await page.getByLabel('E-mail address').fill(email);
  await button('Send me a code').click();
  await page.getByLabel('Code', { exact: true }).waitFor();
  await service.drain();
  await page.getByLabel('Code', { exact: true }).fill(service.mailbox.lastCode(email));
  await page.keyboard.press('Enter');
}

describe.skipIf(!hasBrowser)(`an invitation${unlessSkipped}`, () => {
  test('is accepted or declined after a sign-in by a person without a company', async () => {
    const email = 'nadia@example.com';
    const [north, south] = [
      await service.registerCompany({ name: 'North Pier' }),
      await service.registerCompany({ name: 'South Pier', firstName: 'Sam' }),
    ];
    await invite(north, email);
    await invite(south, email);
    // On a phone, where most mails are opened.
    const visitor = await stage.arrive({ viewport: { width: 320, height: 640 } });
    const { page } = visitor;
    await signInByCode(visitor, email);
    await page.getByRole('heading', { name: 'Your invitations' }).waitFor();
    await page.getByText('Invited by Sam Lovelace').waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.screenshot({ path: artifact('phone invitations.png') });
    const offer = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await offer('North Pier').getByRole('button', { name: 'Decline' }).click();
    await offer('North Pier').waitFor({ state: 'detached' });
    await offer('South Pier').getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { level: 1, name: 'Welcome, Nadia' }).waitFor();
    await page.getByRole('link', { name: 'South Pier' }).waitFor();
  });

  test('whose link is followed by a new person is accepted by their sign-in, and says so', async () => {
    const email = 'first.day@example.com';
    await invite(await service.registerCompany({ name: 'East Pier' }), email);
    const [, place] = /(\/invitations\/\d+\?token=[\w-]+)/.exec(service.mailbox.to(email).at(-1)!.text)!;
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#${place}` });
    const { page } = visitor;
    await signInByCode(visitor, email);
    await page.getByText('You are in East Pier.').waitFor();
    await page.getByRole('link', { name: 'Go to the board' }).click();
    await page.getByRole('heading', { level: 1, name: /^Welcome/ }).waitFor();
  });

  test('is accepted by its link, also by an employee of another company who signs in with a password', async () => {
    const west = await service.registerCompany({ name: 'West Pier' });
    await service.signIn(emailOf.fatima);
    await invite(west, emailOf.fatima);
    const { text } = service.mailbox.to(emailOf.fatima).at(-1)!;
    const [, place] = /(\/invitations\/\d+\?token=[\w-]+)/.exec(text)!;
    const visitor = await stage.arrive({ url: `${stage.pageUrl}#${place}` });
    await visitor.page.getByText('Sign in with the address that was invited.').waitFor();
    await visitor.page.getByLabel('E-mail address').fill(emailOf.fatima);
    await visitor.page.getByLabel('Password').fill('correct horse battery staple');
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByRole('listitem').filter({ hasText: 'West Pier' }).getByText('Accept').click();
    await visitor.page.getByRole('link', { name: 'West Pier' }).waitFor();
    expect(visitor.page.url()).not.toContain('token');
  });

  test('that is open is shown beside the name of whom it waits for', async () => {
    const east = await service.registerCompany({ name: 'East Pier', firstName: 'Ebba' });
    await east.post('/api/projects/', { name: 'Planks' });
    await invite(east, 'nadia.two@example.com');
    await service.signIn(east.email);
    const visitor = await stage.arrive();
    await visitor.signIn(east.email);
    await visitor.button('New task').click();
    await visitor.page
      .getByLabel('Owner')
      .getByRole('option', { name: 'Nadia Petrov (invited)' })
      .waitFor({ state: 'attached' });
  });
});
