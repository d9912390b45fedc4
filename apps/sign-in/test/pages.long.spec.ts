/** The pages in a real browser: accessibility, keyboard use, and use without scripts. */
import { describe, expect } from '@jest/globals';
import { newId } from '@muster/driver';
import { inBrowser, useLooks } from '@muster/testing/looks';
import { type Page } from 'playwright-core';
import { useInstallation } from './installation.ts';

const installation = useInstallation({ SIGN_UP: 'open' }, { host: 'localhost' });
const { world } = installation;

const { withPage, look } = useLooks();

const absoluteUrl = (path: string): string => new URL(path, installation.url()).href;
/** Creates a member of an organization who is invited to another one with a long name. */
async function createMember(name: string): Promise<{ email: string; cookie: string }> {
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
    const { cookie } = await createMember(`reader-${colorScheme}`);
    await withPage(
      async (page) => {
        await page
          .context()
          .addCookies([{ name: 'muster', value: cookie, url: installation.url(), httpOnly: true }]);
        for (const [what, path] of Object.entries(paths)) {
          await page.goto(absoluteUrl(path));
          await look(page, `${what}, ${colorScheme}`);
        }
      },
      { colorScheme },
    );
  });
});

describe('a person', () => {
  const byKeys = async (page: Page): Promise<void> => {
    const email = `keys-${newId()}@example.com`;
    await page.goto(absoluteUrl('/sign-in'));
    // The address field gets the focus after the page is rendered.
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    await page.waitForURL(absoluteUrl('/sign-in/mail'));
    const { code } = await installation.link(email);
    await page.keyboard.press('Tab');
    await page.locator('#code:focus').waitFor();
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.waitForURL(absoluteUrl('/sign-in'));
    // Press Tab to pass the link to the passkeys and the sign-out button, and to reach the organization's
    // name.
    for (const _ of ['passkeys', 'sign out', 'name']) await page.keyboard.press('Tab');
    await page.locator('#organization:focus').waitFor();
    await page.keyboard.type(email.slice(0, 40));
    await page.keyboard.press('Enter');
    await page.getByText('Your organization', { exact: true }).waitFor();
  };

  inBrowser('signs in and begins an organization by keyboard alone', () => withPage(byKeys));

  inBrowser('does so without script, and sees nothing that needs one', () =>
    withPage(
      async (page) => {
        await byKeys(page);
        await page.goto(absoluteUrl('/sign-in?again'));
        expect(await page.getByRole('button').allTextContents()).toEqual(['E-mail me a sign-in link']);
      },
      { javaScriptEnabled: false },
    ),
  );
});
