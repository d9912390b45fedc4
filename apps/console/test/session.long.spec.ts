/**
 * Tests signing in with a browser and a mailbox: on the way to a page, signing out, and confirming the
 * identity before sensitive actions.
 */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { goTo, journey, textIn } from './browser.ts';
import { arrange, useHouse } from './house.ts';
import { useWindows } from './windows.ts';

const house = useHouse({ hasSignIn: true });
let people: People;
const email = 'ana@example.com';
/**
 * Adds Ana's current organization to an address, because she is a member of the organizations of all tests in
 * this file.
 */
const at = (address: string): string => `${address}${address.includes('?') ? '&' : '?'}org=${people.slug}`;
const { keep: kept } = useWindows(house);
beforeEach(async () => {
  people = await house.world.org();
  await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
});

journey('leads to the sign-in and back to the page that was asked for, with its filters', async () => {
  const { page } = kept(await house.signIn(email, at('/p/WEB?q=alp')));
  await page.getByRole('link', { name: 'Alpha' }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/p/WEB?q=alp');
  // The cookie is sufficient: a new page of the same browser is signed in, and no script can read the cookie.
  await goTo(page, page.url());
  await page.getByRole('link', { name: 'Alpha' }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await page.evaluate('document.cookie')).toBe('');
  expect(await page.getByLabel('Token').count()).toBe(0);
});

journey('signs out of the whole browser', async () => {
  const { page } = kept(await house.signIn(email, at('/')));
  await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
  const other = await page.context().newPage();
  await goTo(other, `${house.url()}/console/p/WEB`);
  await other.getByRole('link', { name: 'Alpha' }).waitFor();
  await page.getByRole('button', { name: 'Ana', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // The other window is signed out by its stream or by its next call, and shows no data any more.
  const signIn = other.getByRole('heading', { name: 'Sign in' });
  await other.getByRole('link', { name: 'Activity' }).or(signIn).first().click();
  await signIn.waitFor();
  expect(['/console/activity', '/console/p/WEB']).toContain(new URL(other.url()).searchParams.get('to'));
});

journey('goes from one organization to another, each in its window', async () => {
  const second = await house.world.org();
  await house.client(second.ana.me.token).orgs.update({ name: 'Second' });
  const { page } = kept(await house.signIn(email, at('/')));
  await page.getByRole('link', { name: 'Web shop' }).waitFor();
  expect(page.url()).not.toContain('org=');
  const other = await page.context().newPage();
  await goTo(other, `${house.url()}/console/`);
  await other.getByRole('button', { name: 'Organizations: Acme' }).click();
  await other.getByRole('menuitemcheckbox', { name: 'Second' }).click();
  await other.getByText('No project yet').waitFor();
  for (const window of [page, other]) await goTo(window, window.url());
  await page.getByRole('link', { name: 'Web shop' }).waitFor();
  await other.getByText('No project yet').waitFor();
});

journey('asks for a fresh proof in a window beside, and goes on with what was typed', async () => {
  const { page } = kept(await house.visit(at('/settings/tokens')));
  await goTo(page, await house.askForLink(page, email));
  // Changes the time of the last sign-in before the API first reads the session, because the API caches
  // sessions for a while.
  await page.route('**/auth/session', async (route) => {
    await house.world.rows(`update sign_in.sessions set proven_at = now() - interval '11 minutes'`);
    await route.continue();
  });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Tokens and agents' }).waitFor();
  await page.getByText(`need no token: add ${house.url()}/api/mcp to the client`).waitFor();
  await page.unroute('**/auth/session');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByLabel('Name').fill('Build server');
  await page.getByLabel('Acts as').selectOption({ label: 'A new agent…' });
  await page.getByLabel('Agent name').fill('Builder');
  await page.getByRole('button', { name: 'Create token' }).click();
  const [beside] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('dialog').getByRole('button', { name: 'Sign in again' }).click(),
  ]);
  const link = await house.askForLink(beside, email);
  await goTo(beside, link);
  await beside.getByRole('button', { name: 'Sign in' }).click();
  const made = page.getByRole('status').filter({ hasText: 'Build server' });
  await made.waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  const secret = (await made.locator('code').textContent()) ?? '';
  const connect = page.getByRole('region', { name: 'Connect a client' });
  await connect.getByText('Waiting for the first call').waitFor();
  for (const client of ['Codex', 'Command line', 'Claude Code']) {
    await connect.getByRole('button', { name: client, exact: true }).click();
    for (const snippet of await connect.locator('code').allTextContents()) expect(snippet).toContain(secret);
  }
  expect(await connect.locator('code').last().textContent()).toContain(`'${house.url()}/api/mcp'`);
  expect((await house.client(secret).session.identity()).agent?.name).toBe('Builder');
  await connect.getByText('Connected. The first call has arrived.').waitFor();
  await page.getByRole('button', { name: 'Retire Builder' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retire' }).click();
  await page.getByRole('button', { name: 'Retire Builder' }).waitFor({ state: 'detached' });
  await expect(house.client(secret).session.identity()).rejects.toThrow('unauthorized');
});

journey('asks to sign in again when the session has expired, and saves what was typed', async () => {
  const chloe = 'chloe@example.com';
  const { page } = kept(await house.signIn(chloe, at('/s/WEB-1')));
  const comment = page.getByRole('textbox', { name: 'Comment' });
  await comment.fill('Do we keep the card?');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Comment' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has expired' });
  const [beside] = await Promise.all([
    page.waitForEvent('popup'),
    dialog.getByRole('button', { name: 'Sign in again' }).click(),
  ]);
  await goTo(beside, await house.askForLink(beside, chloe));
  await beside.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.said').getByText('Do we keep the card?').waitFor();
  expect([await dialog.count(), await textIn(comment)]).toEqual([0, '']);
});

journey('shows the browsers in which one is signed in, and ends another', async () => {
  const { page } = kept(await house.signIn('ben@example.com', at('/settings/sessions')));
  const other = kept(await house.signIn('ben@example.com', at('/'))).page;
  await other.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
  await goTo(page, page.url());
  await page.getByText('this browser').waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.locator('.notice', { hasText: '1 session signed out' }).waitFor();
  // The event stream may have signed out the other window already, or will do so while the next page loads.
  const signIn = other.getByRole('heading', { name: 'Sign in' });
  await other.getByRole('link', { name: 'Activity' }).or(signIn).first().click();
  await signIn.waitFor();
});

journey('shows one’s passkeys, names one anew and removes it', async () => {
  const { page } = kept(await house.signIn('ben@example.com', at('/settings/passkeys')));
  await page.getByRole('heading', { name: 'No passkeys yet' }).waitFor();
  await page.getByRole('link', { name: 'Create passkey' }).waitFor();
  await house.world.rows(
    `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name)
     select $1, id, '\\x01', '\\x02', 'Laptop' from sign_in.accounts where email = 'ben@example.com'`,
    randomUUID(),
  );
  await goTo(page, page.url());
  await page.getByRole('button', { name: 'Rename Laptop' }).click();
  await page.getByLabel('Name: Laptop').fill('Desk');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page
    .locator(':focus')
    .and(page.getByRole('button', { name: 'Rename Desk' }))
    .waitFor();
  await page.getByRole('button', { name: 'Remove Desk' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('heading', { name: 'No passkeys yet' }).waitFor();
});

journey('leads to the proof that the organization asks for, and says where to go on', async () => {
  const { page } = kept(await house.signIn('ben@example.com', at('/p/WEB')));
  await page.getByText('Alpha').waitFor();
  await house.client(people.ana.me.token).policy.update({ requirePasskey: true });
  await page.goto(`${house.url()}/console${at('/activity')}`);
  await page.waitForURL(({ pathname }) => pathname === '/sign-in');
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('organization')).toBe(people.orgId);
  expect(searchParams.get('to')).toBe('/console/activity');
});
