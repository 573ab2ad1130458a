import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { authorizeQuery, newVerifier, postForm, registerClient } from '../support/oauth.ts';
import { plant } from '../support/planted.ts';
import { password, startService } from '../support/service.ts';
import { hasBrowser, launchBrowser, openWindow, unlessSkipped } from './browser.ts';
import { findBarriers, focusedLabel, focusedText, isDark, overflow } from './in-page.ts';

/* The page on which a person lets a program act as them, from where the program sends them to where it gets them back. */

const service = await startService({ isPublicHere: true });
const boss = await service.registerCompany();
const person = await service.addEmployee(boss);
const browser = hasBrowser ? await launchBrowser() : undefined;
afterAll(() => browser?.close());
// The page of the program, which people come back to.
const program = await plant((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><link rel="icon" href="data:,"><title>Planner</title>');
});
const redirectUri = `${program.url}/callback`;
const name = 'Planner of <b>weeks</b>';
const clientId = await registerClient(service, { client_name: name, redirect_uris: [redirectUri] });
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

type Visit = { page: Page; verifier: string };

async function visit(asked: Record<string, string> = {}, options?: BrowserContextOptions): Promise<Visit> {
  const { code_verifier: verifier, code_challenge } = newVerifier();
  const resource = `${service.url}/mcp`;
  const query = authorizeQuery(clientId, { redirect_uri: redirectUri, resource, code_challenge, ...asked });
  const window = await openWindow(browser!, `${service.url}${query}`, options);
  // A refused sign-in and the page of the program are meant.
  window.expectTrouble(/status of 401|request to another host: http:\/\/127\.0\.0\.1/);
  // The tool that looks for barriers styles what it measures with.
  window.expectTrouble(/Applying inline style|Couldn't load preload assets/);
  onTestFinished(async () => {
    const troubles = window.takeTroubles();
    await window.close();
    expect(troubles).toEqual([]);
  });
  await window.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  return { page: window.page, verifier };
}

async function signIn(page: Page, email: string, secret = password): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** What the program is told when the person is back. */
async function broughtBack(page: Page): Promise<Record<string, string>> {
  await page.waitForURL((url) => url.href.startsWith(redirectUri));
  return Object.fromEntries(new URL(page.url()).searchParams);
}

const exchange = async (page: Page, verifier: string) => {
  const { code } = await broughtBack(page);
  const form = { code: code!, client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier };
  return (await postForm(service, '/oauth/token', { grant_type: 'authorization_code', ...form })).body;
};

const liveSessions = async (email: string) =>
  service.database.db
    .selectFrom('sessions as s')
    .innerJoin('accounts as a', 'a.account_id', 's.account_id')
    .where('a.email', '=', email)
    .where('ended_at', 'is', null)
    .select('session_id')
    .execute();

describe.runIf(hasBrowser)(`the page of consent${unlessSkipped}`, { timeout: 120_000 }, () => {
  test('says who asks, signs in, and lets the person choose what to give', async () => {
    const before = (await liveSessions(person.email)).length;
    const { page, verifier } = await visit({ scope: 'time:read time:write tasks:read admin' });
    expect(await page.locator('main').textContent()).toContain(name);
    expect(await page.locator('dd').textContent()).toBe(`this computer (${new URL(redirectUri).host})`);
    await signIn(page, person.email, 'wrong');
    await page.getByRole('alert').getByText('The e-mail address or the password is wrong').waitFor();
    await signIn(page, person.email);
    await page.getByRole('heading', { name: 'What may it do?' }).waitFor();
    expect(await focusedText(page)).toBe('What may it do?');
    expect(await page.locator('#person').textContent()).toBe(person.name);
    expect(await page.locator('#company').textContent()).toBe('Analytical Engines');
    // Only an admin may give that.
    expect(await page.getByLabel('Use your admin rights').isDisabled()).toBe(true);
    await page.getByRole('group', { name: 'Time' }).getByLabel('change').uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect((await exchange(page, verifier)).scope).toBe('time:read tasks:read');
    // The session was for this alone.
    expect(await liveSessions(person.email)).toHaveLength(before);
  });

  test('gives nothing where nothing is chosen, and takes a refusal back to the program', async () => {
    const { page } = await visit({ scope: 'time:read' });
    await signIn(page, person.email);
    await page.getByLabel('see').uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('alert').getByText('Choose at least one thing').waitFor();
    await page.getByRole('button', { name: 'Refuse' }).click();
    expect(await broughtBack(page)).toEqual({
      error: 'access_denied',
      error_description: 'The person has refused.',
      state: 'a state',
      iss: service.url,
    });
  });

  test('signs in with a code, for people without a password', async () => {
    const { page, verifier } = await visit({ scope: 'time:read' });
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByRole('button', { name: 'Send me a code instead' }).click();
    await page.getByLabel('Code').waitFor();
    await service.drain();
    await page.getByLabel('Code').fill(service.mailbox.lastCode(person.email));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect((await exchange(page, verifier)).scope).toBe('time:read');
  });

  test('asks for the company where there are several', async () => {
    const other = await service.registerCompany({ name: 'Difference Engines' });
    const both = await service.addEmployee(other, { email: boss.email });
    const { page, verifier } = await visit({ scope: 'time:read admin' });
    await signIn(page, boss.email);
    await page.getByLabel('Difference Engines').check();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect((await exchange(page, verifier)).scope).toBe('time:read');
    const { body } = await both.get('/api/api-keys/');
    expect(body.keys).toMatchObject([{ name, scopes: ['time:read'] }]);
  });

  test('is used by keyboard alone', async () => {
    const { page, verifier } = await visit({ scope: 'time:read' });
    await page.getByLabel('E-mail address').focus();
    await page.keyboard.type(person.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What may it do?' }).waitFor();
    await page.keyboard.press('Tab');
    expect((await focusedLabel(page)).label.trim()).toBe('see');
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Allow');
    await page.keyboard.press('Enter');
    expect((await exchange(page, verifier)).scope).toBe('time:read');
  });

  test.each(['light', 'dark'] as const)('can be read by all where it is %s, and fits a phone', async (colorScheme) => {
    const { page } = await visit({}, { ...phone, colorScheme });
    expect(await isDark(page)).toBe(colorScheme === 'dark');
    for (const step of ['Sign in', 'What may it do?']) {
      await page.getByRole('heading', { name: step }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      if (step === 'Sign in') await signIn(page, person.email);
    }
    await page.screenshot({ path: `test/artifacts/consent-${colorScheme}.png`, fullPage: true });
  });

  test('tells what is wrong with a request on a page of its own', async () => {
    const window = await openWindow(browser!, `${service.url}/oauth/authorize?client_id=wmsc_nobody`, phone);
    onTestFinished(() => window.close());
    await window.page.getByText('is not known').waitFor();
    expect(await findBarriers(window.page)).toEqual([]);
    expect(await overflow(window.page)).toBeLessThanOrEqual(0);
  });
});
