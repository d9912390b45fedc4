/** The pages of this service in a real browser: the invitation, for installations without accounts, and the reference. */
import { randomBytes } from 'node:crypto';
import { describe, expect } from '@jest/globals';
import { inBrowser, useLooks } from '@muster/testing/looks';
import { type Page } from 'playwright-core';
import { useApi } from './api.ts';

const docsUrl = 'https://docs.acme.example';
const baseUrl = 'https://muster.acme.example';
const api = useApi({ DOCS_URL: docsUrl, BASE_URL: baseUrl });
const { withPage, look } = useLooks();

/** Returns the link in the e-mail. */
async function linkOf(email: string): Promise<string> {
  const { ana } = await api.org();
  const { invitation } = await ana.members.invite({ email });
  const secret = `inv_${randomBytes(16).toString('hex')}`;
  await api.world.rows(
    'update invitations set token_hash = sha256($2::bytea) where id = $1',
    invitation.id,
    Buffer.from(secret),
  );
  return new URL(`/invitations/accept#token=${secret}`, api.url()).href;
}

async function join(page: Page, email: string): Promise<void> {
  await page.goto(await linkOf(email));
  await page.getByLabel('Your name').fill('Noor');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'You joined', exact: true }).waitFor();
}

describe('the page of an invitation', () => {
  inBrowser('says after joining where the token is used, and how to go on', async () => {
    await withPage(async (page) => {
      await join(page, 'noor@example.com');
      expect(await page.title()).toBe('You joined');
      await expect(page.getByText('Accept invitation').count()).resolves.toBe(0);
      await expect(page.getByText(`muster login ${baseUrl}`).isVisible()).resolves.toBe(true);
      const guide = page.getByRole('link', { name: 'Read the guide for your first ten minutes' });
      expect(await guide.getAttribute('href')).toBe(`${docsUrl}/guides/first-ten-minutes`);
      const token = (await page.locator('#token').textContent()) ?? '';
      expect((await api.client(token).session.identity()).member.name).toBe('Noor');
      // The URL no longer contains the used secret.
      expect(new URL(page.url()).hash).toBe('');
    });
  });

  inBrowser('copies the token by a button', async () => {
    await withPage(async (page) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await join(page, 'copied@example.com');
      await page.getByRole('button', { name: 'Copy token' }).click();
      await page.getByText('Copied.').waitFor();
      const copied = await page.evaluate('navigator.clipboard.readText()');
      expect(copied).toBe(await page.locator('#token').textContent());
    });
  });

  inBrowser('selects the token where nothing may be copied', async () => {
    await withPage(async (page) => {
      await page.addInitScript({
        content: "navigator.clipboard.writeText = () => Promise.reject('refused')",
      });
      await join(page, 'selected@example.com');
      await page.getByRole('button', { name: 'Copy token' }).click();
      await page.getByText('The token is selected').waitFor();
      const selected = await page.evaluate('getSelection().toString().trim()');
      expect(selected).toBe(await page.locator('#token').textContent());
    });
  });

  inBrowser.each(['light', 'dark'] as const)('is for everybody and fits every width, in %s', (colorScheme) =>
    withPage(
      async (page) => {
        await page.goto(await linkOf(`before-${colorScheme}@example.com`));
        await look(page, `invitation-${colorScheme}`);
        await join(page, `after-${colorScheme}@example.com`);
        await look(page, `joined-${colorScheme}`);
      },
      { colorScheme },
    ),
  );
});

describe('a page of the reference', () => {
  inBrowser.each(['light', 'dark'] as const)('is for everybody and fits every width, in %s', (colorScheme) =>
    withPage(
      async (page) => {
        for (const path of ['/', '/reference/teams', '/nowhere']) {
          await page.goto(new URL(path, api.url()).href);
          await look(page, `api${path.replaceAll('/', '-')}-${colorScheme}`);
        }
      },
      { colorScheme },
    ),
  );

  inBrowser('lists its sections beside them where the window has room', () =>
    withPage(async (page) => {
      await page.goto(new URL('/reference/teams', api.url()).href);
      const contents = page.getByRole('navigation', { name: 'On this page' });
      await contents.getByRole('link', { name: 'teams.create', exact: true }).click();
      expect(new URL(page.url()).hash).toBe('#teams.create');
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await contents.count()).toBe(0);
    }),
  );
});
