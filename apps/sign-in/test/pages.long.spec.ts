/** The pages in a real browser: accessibility, keyboard use, and use without scripts. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AxeResults } from 'axe-core';
import { type Browser as Chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import { inBrowser, launch } from './chromium.ts';
import { useInstallation } from './installation.ts';

const installation = useInstallation({ SIGN_UP: 'open' }, { host: 'localhost' });
const { world } = installation;

let chromium: Chromium | undefined;
let axe = '';
beforeAll(async () => {
  chromium = await launch();
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});
afterAll(async () => {
  await chromium?.close();
});

const at = (path: string): string => new URL(path, installation.url()).href;
const widths = [1440, 1024, 390, 320];

async function openWith<Result>(
  options: BrowserContextOptions,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  if (chromium === undefined) throw new Error('there is no browser');
  const context = await chromium.newContext(options);
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Creates a member of an organization who is invited to another one with a long name. */
async function someone(name: string): Promise<{ email: string; cookie: string }> {
  const email = `${name}@example.com`;
  const people = await world.org();
  await world.rows('update members set email = $2 where id = $1', people.chloe.me.memberId, email);
  const other = await world.org();
  const title = 'Gesellschaft für Langfristige Zusammenarbeit und Wiederverwertung';
  await world.rows('update orgs set name = $2 where id = $1', other.orgId, title);
  await world.rows(
    `insert into invitations (org_id, id, email, role, invited_by, expires_at)
     values ($1, $2, $3, 'admin', '{"kind": "member", "name": "Ana"}', now() + interval '7 days')`,
    ...[other.orgId, newId(), email],
  );
  const browser = await installation.signIn(email);
  await world.rows(
    `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name)
     select $1, a.id, $2, '\\x00', 'My laptop' from sign_in.accounts a where a.email = $3`,
    ...[newId(), Buffer.from(newId()), email],
  );
  return { email, cookie: browser.session() };
}

const paths = {
  'the page to sign in': '/sign-in?again',
  'the page of a mail': '/sign-in/mail',
  'a link that is over': '/auth/link?token=x',
  'the organizations': '/sign-in',
  'the invitations': '/sign-in/invitations',
  'an invitation that was refused': '/sign-in/invitations?refused=seats_exhausted',
  'the passkeys': '/sign-in/passkeys',
};

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser('each page is for everybody, and fits every width', async () => {
    const { cookie } = await someone(`reader-${colorScheme}`);
    await openWith({ colorScheme }, async (page) => {
      await page
        .context()
        .addCookies([{ name: 'muster', value: cookie, url: installation.url(), httpOnly: true }]);
      for (const [what, path] of Object.entries(paths)) {
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(at(path));
          const overflow = await page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect([what, width, overflow]).toEqual([what, width, 0]);
          const shots = process.env['SHOTS'];
          if (shots !== undefined) {
            const file = `${shots}/${what.replaceAll(' ', '-')}-${width}-${colorScheme}.png`;
            await page.screenshot({ path: file, fullPage: true });
          }
        }
        // Run axe in Playwright's isolated world, because the page's policy blocks other scripts.
        await page.evaluate(axe);
        const { violations } = (await page.evaluate(
          `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
        )) as AxeResults;
        expect([what, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
          what,
          [],
        ]);
      }
    });
  });
});

describe('a person', () => {
  const byKeys = async (page: Page): Promise<void> => {
    const email = `keys-${newId()}@example.com`;
    await page.goto(at('/sign-in'));
    // The address field gets the focus after the page is rendered.
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await page.waitForURL(at('/sign-in/mail'));
    const { code } = await installation.link(email);
    await page.keyboard.press('Tab');
    await page.locator('#code:focus').waitFor();
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.waitForURL(at('/sign-in'));
    // Press Tab to pass the link to the passkeys and the sign-out button, and to reach the organization's
    // name.
    for (const _ of ['passkeys', 'sign out', 'name']) await page.keyboard.press('Tab');
    await page.locator('#organization:focus').waitFor();
    await page.keyboard.type(email.slice(0, 40));
    await page.keyboard.press('Enter');
    await page.getByText('Your organization', { exact: true }).waitFor();
  };

  inBrowser('signs in and begins an organization by keyboard alone', () => openWith({}, byKeys));

  inBrowser('does so without script, and sees nothing that needs one', () =>
    openWith({ javaScriptEnabled: false }, async (page) => {
      await byKeys(page);
      await page.goto(at('/sign-in?again'));
      expect(await page.getByRole('button').allTextContents()).toEqual(['E-mail me a sign-in link']);
    }),
  );
});
