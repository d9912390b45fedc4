/** The page that an invitation's e-mail links to, without accounts, in a real browser. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { useApi } from './api.ts';

const docsUrl = 'https://docs.acme.example';
const baseUrl = 'https://muster.acme.example';
const api = useApi({ DOCS_URL: docsUrl, BASE_URL: baseUrl });
const program = findBrowser();
const inBrowser = program === undefined ? it.skip : it;

let browser: Browser | undefined;
let axe = '';
beforeAll(async () => {
  if (program === undefined) return;
  browser = await chromium.launch({ executablePath: program, args: browserFlags() });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
afterAll(async () => {
  await browser?.close();
});

async function openWith(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser?.newContext(options);
  if (context === undefined) throw new Error('there is no browser');
  try {
    await work(await context.newPage());
  } finally {
    await context.close();
  }
}

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

async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

describe('the page of an invitation', () => {
  inBrowser('says after joining where the token is used, and how to go on', async () => {
    await openWith({}, async (page) => {
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
    await openWith({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      await join(page, 'copied@example.com');
      await page.getByRole('button', { name: 'Copy token' }).click();
      await page.getByText('Copied.').waitFor();
      const copied = await page.evaluate('navigator.clipboard.readText()');
      expect(copied).toBe(await page.locator('#token').textContent());
    });
  });

  inBrowser('selects the token where nothing may be copied', async () => {
    await openWith({}, async (page) => {
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

  inBrowser.each([1440, 320])('has no fault that axe finds and fits at %i pixels', async (width) => {
    await openWith({ viewport: { width, height: 800 } }, async (page) => {
      await page.goto(await linkOf('before@example.com'));
      expect(await faultsOf(page)).toEqual([]);
      await join(page, 'after@example.com');
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });
  });
});
