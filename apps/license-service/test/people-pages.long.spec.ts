/** Tests the sign-in to support with an issuer in a real browser without scripts. */
import { describe, expect } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Page } from 'playwright-core';
import { inBrowser, useLooks } from '@muster/testing/looks';
import { useSupport } from './people.ts';

const support = useSupport();
const { withPage, look } = useLooks({ javaScriptEnabled: false });

function addEmployee(): { subject: string; email: string } {
  const subject = newId();
  const email = `eve.example@${subject}.example`;
  support.company.people.set(subject, { email, email_verified: true });
  return { subject, email };
}

/** Begins to sign in, as a visitor without cookies, and opens the login page of the company. */
async function startSignIn(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${support.service().url}/support?q=A-17`);
  await page.getByRole('button', { name: 'Continue with Acme Login' }).click();
  await page.getByLabel('Who are you?').waitFor();
}

async function signIn(page: Page, subject: string): Promise<void> {
  await startSignIn(page);
  await page.getByLabel('Who are you?').fill(subject);
  await page.getByRole('button', { name: 'Sign in at Acme' }).click();
  await page.waitForURL(/\/support(\?|\/callback)/);
}

inBrowser('a person comes in by two clicks, is where they were, and signs out', async () => {
  const { subject, email } = addEmployee();
  await support.run('operator', 'grant', email, '--scope', 'read,change');
  await withPage(async (page) => {
    await signIn(page, subject);
    await page.getByText('Nothing found').waitFor();
    expect(page.url()).toBe(`${support.service().url}/support?q=A-17`);
    const cookies = await page.context().cookies(support.service().url);
    expect(cookies).toContainEqual(
      expect.objectContaining({ name: 'license-support', httpOnly: true, sameSite: 'Lax', path: '/' }),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Continue with Acme Login' }).waitFor();
    expect(await page.getByRole('search').count()).toBe(0);
  });
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser('each page of signing in is for everybody, and fits every width', async () => {
    const { subject, email } = addEmployee();
    await withPage(
      async (page) => {
        const { url } = support.service();
        await page.goto(`${url}/support`);
        await look(page, `issuer-${colorScheme}`);
        await signIn(page, subject);
        await page.getByText('don’t have access').waitFor();
        await look(page, `not-granted-${colorScheme}`);
        await page.goto(`${url}/support/callback?code=x&state=x`);
        await look(page, `over-${colorScheme}`);
        await startSignIn(page);
        await page.goto(`${url}/support/callback?error=access_denied`);
        await page.getByText('could not sign you in').waitFor();
        await look(page, `problem-${colorScheme}`);
        for (const product of ['default', 'acme'])
          await support.run('operator', 'grant', email, '--scope', 'read,change', '--product', product);
        const { id, key } = await support.world().issue({ product: 'acme', orderRef: `A-17-${colorScheme}` });
        await support.service().activate(key, 'laptop-of-ana', { 'license-product': 'acme' });
        await signIn(page, subject);
        await page.goto(`${url}/support?q=A-17-${colorScheme}`);
        await look(page, `products-${colorScheme}`);
        await page.goto(`${url}/support/licenses/${id}`);
        await page.getByRole('button', { name: 'Release slot 1' }).click();
        await page.getByText('Slot released').waitFor();
        await look(page, `by-person-${colorScheme}`);
      },
      { colorScheme, javaScriptEnabled: true },
    );
  });
});
