/** Passkeys in a real browser with a virtual authenticator, and requests that a browser would not send. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Browser as Chromium, type BrowserContext, type Page } from 'playwright-core';
import { createDeviceIn, inBrowser, launch } from './chromium.ts';
import { type Browser, useInstallation } from './installation.ts';

const installation = useInstallation({ SIGN_UP: 'open' }, { host: 'localhost' });
const { world } = installation;

let chromium: Chromium | undefined;
let context: BrowserContext;
let email: string;
let count = 0;
beforeAll(async () => {
  chromium = await launch();
});
afterAll(async () => {
  await chromium?.close();
});
beforeEach(async () => {
  email = `kim-${(count += 1)}@example.com`;
  if (chromium !== undefined) context = await chromium.newContext();
});

/** Copies a session into the real browser. */
const copySessionCookie = async (browser: Browser): Promise<void> => {
  const url = installation.url();
  await context.clearCookies();
  await context.addCookies([
    { name: 'muster', value: browser.session(), url, httpOnly: true, sameSite: 'Lax' },
  ]);
};
const at = (path: string): string => new URL(path, installation.url()).href;
const expireRecentProof = () =>
  world.rows(
    `update sign_in.sessions set proven_at = now() - interval '11 minutes'
     where account_id = (select id from sign_in.accounts where email = $1)`,
    email,
  );
const passkeys = () =>
  world.rows<{ id: string; name: string; counter: string }>(
    `select p.id, p.name, p.counter from sign_in.passkeys p join sign_in.accounts a on a.id = p.account_id where a.email = $1`,
    email,
  );
const proofs = async () => {
  const [row] = await world.rows<{ proofs: string[] }>(
    `select s.proofs from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id
     where a.email = $1 and s.revoked_at is null order by s.created_at desc limit 1`,
    email,
  );
  return row?.proofs;
};
async function createPasskey(page: Page, name = 'My laptop'): Promise<void> {
  await page.goto(at('/sign-in/passkeys'));
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Create passkey' }).click();
  await page.getByText(name).first().waitFor();
}
const signInByPasskey = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' }).click();

describe('a passkey', () => {
  inBrowser('is made by who has signed in, and signs in without a mail', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    await createPasskey(page);
    expect(await passkeys()).toEqual([expect.objectContaining({ name: 'My laptop' })]);
    await context.clearCookies();
    const mails = (await installation.mailsTo(email)).length;
    await page.goto(at('/sign-in?to=/sign-in/passkeys'));
    await signInByPasskey(page);
    await page.waitForURL(at('/sign-in/passkeys'));
    expect(await page.getByText(email).count()).toBe(1);
    expect(await proofs()).toEqual(['passkey']);
    expect(await installation.mailsTo(email)).toHaveLength(mails);
    expect(faults).toEqual([]);
  });

  inBrowser('proves anew who has been signed in for long, in the same session', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    await createPasskey(page);
    await expireRecentProof();
    await page.goto(at('/sign-in/passkeys'));
    expect(await page.getByLabel('Name', { exact: true }).count()).toBe(0);
    const [before] = await context.cookies();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await signInByPasskey(page);
    await page.getByLabel('Name', { exact: true }).waitFor();
    expect(await proofs()).toEqual(['link', 'passkey']);
    const after = (await context.cookies()).find(({ name }) => name === 'muster');
    expect(after?.value).not.toBe(before?.value);
  });

  inBrowser('is of no use without its person, or once it was removed', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page, setUserVerified: verify } = await createDeviceIn(context);
    await createPasskey(page);
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    await verify(false);
    await signInByPasskey(page);
    await page.getByText('The passkey prompt was closed or timed out. Try again.').waitFor();
    await verify(true);
    await signInByPasskey(page);
    await page.getByText('You’re signed in').waitFor();
    await page.goto(at('/sign-in/passkeys'));
    await page.getByRole('button', { name: 'Remove My laptop' }).click();
    await page.getByText('No passkeys yet.').waitFor();
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    await signInByPasskey(page);
    await page.getByText('This passkey is not registered here.').waitFor();
    expect((await context.cookies()).some(({ name }) => name === 'muster')).toBe(false);
  });

  inBrowser('is neither made nor proven by what was asked for another account', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    // Assign the browser's challenge to another account before the browser responds.
    const ofAnother = async (path: string): Promise<void> => {
      await page.route(`**${path}`, async (route) => {
        await world.rows(
          `update sign_in.flows set payload = jsonb_set(payload, '{accountId}', to_jsonb($1::text))`,
          newId(),
        );
        await route.continue();
      });
    };
    await ofAnother('/auth/passkeys');
    await page.goto(at('/sign-in/passkeys'));
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('This passkey is not registered here.').waitFor();
    expect(await passkeys()).toEqual([]);
    await page.unroute('**/auth/passkeys');
    await createPasskey(page);
    await ofAnother('/auth/passkey');
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    await signInByPasskey(page);
    await page.getByText('This passkey is not registered here.').waitFor();
    expect((await context.cookies()).some(({ name }) => name === 'muster')).toBe(false);
  });

  inBrowser('leads to no other site, whatever the page sends', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    await createPasskey(page);
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    await page.evaluate(`document.querySelector('#passkey [name=to]').value = '//evil.example/'`);
    await signInByPasskey(page);
    await page.getByText('You’re signed in').waitFor();
    expect(page.url()).toBe(at('/sign-in'));
  });

  it('has the name that its person gives it, and no other person', async () => {
    const browser = await installation.signIn(email);
    await world.rows(
      `insert into sign_in.passkeys (id, account_id, credential_id, public_key, name)
       select $1, id, sha256($2::text::bytea), '', 'Laptop' from sign_in.accounts where email = $2`,
      newId(),
      email,
    );
    const [own] = await passkeys();
    const passkey = own?.id ?? '';
    const rename = (one: Browser, name: string, headers = {}) =>
      one.submit('/auth/passkeys/rename', { passkey, name }, headers);
    const names = async () => (await passkeys()).map(({ name }) => name);
    // Renaming requires no recent authentication. The operation passkeys.rename does not require it either.
    await expireRecentProof();
    expect(await rename(browser, '  Desk ')).toMatchObject({ status: 303, location: '/sign-in/passkeys' });
    expect((await browser.open('/sign-in/passkeys')).text).toContain('Rename Desk');
    const refused = await rename(browser, ' ');
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('1 to 120 characters')]);
    const stranger = await installation.signIn(`stranger-${email}`);
    await rename(stranger, 'Taken over');
    await rename(installation.browser(), 'Taken over');
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await rename(browser, 'Taken over', foreign)).status).toBe(403);
    expect(await names()).toEqual(['Desk']);
  });

  inBrowser('is made once on a device', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    await createPasskey(page);
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('This device already has a passkey for your account.').waitFor();
    expect(await passkeys()).toHaveLength(1);
  });

  inBrowser('whose counter went back is a copy, and refused', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    await createPasskey(page);
    await world.rows('update sign_in.passkeys set counter = 1000 where id = $1', (await passkeys())[0]?.id);
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    await signInByPasskey(page);
    await page.getByText('This passkey is not registered here.').waitFor();
    expect(Number((await passkeys())[0]?.counter)).toBe(1000);
  });

  inBrowser('signs what was asked of this browser, once', async () => {
    await copySessionCookie(await installation.signIn(email));
    const { page } = await createDeviceIn(context);
    await createPasskey(page);
    await context.clearCookies();
    await page.goto(at('/sign-in'));
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.url().endsWith('/auth/passkey')),
      signInByPasskey(page),
    ]);
    await page.getByText('You’re signed in').waitFor();
    const body = sent.postData() ?? '';
    const cookie = (await sent.allHeaders())['cookie'] ?? '';
    expect(cookie).toContain('muster-passkey=');
    const json = {
      'content-type': 'application/json',
      origin: installation.url(),
      'sec-fetch-site': 'same-origin',
    };
    const send = (headers: Record<string, string>) =>
      fetch(at('/auth/passkey'), { method: 'POST', headers, body });
    // Reset the counter, because this test is not about copied passkeys.
    await world.rows('update sign_in.passkeys set counter = 0 where id = $1', (await passkeys())[0]?.id);
    // Replay the response: unchanged, with another challenge, without a challenge, and from another site.
    expect((await send({ ...json, cookie })).status).toBe(401);
    const asked = await fetch(at('/auth/passkey/options'), { method: 'POST', headers: json, body: '{}' });
    const [other = ''] = asked.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    expect(other).toContain('muster-passkey=');
    expect((await send({ ...json, cookie: other })).status).toBe(401);
    expect((await send(json)).status).toBe(401);
    expect((await send({ ...json, cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });

  it('is made by nobody whose session is old, and by none of another origin', async () => {
    const browser = await installation.signIn(email);
    const ask = (headers: Record<string, string> = {}) =>
      fetch(at('/auth/passkeys/options'), {
        method: 'POST',
        body: '{}',
        headers: {
          ...{ 'content-type': 'application/json', cookie: `muster=${browser.session()}` },
          ...{ origin: installation.url(), 'sec-fetch-site': 'same-origin', ...headers },
        },
      });
    expect((await ask()).status).toBe(200);
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    await expireRecentProof();
    expect((await ask()).status).toBe(403);
    expect((await browser.submit('/auth/passkeys/delete', { passkey: 'x' })).location).toMatch(
      /^\/sign-in\?again/,
    );
  });
});

it('says of no address whether it has a passkey: a browser is asked for any of its own', async () => {
  const answer = await fetch(at('/auth/passkey/options'), {
    method: 'POST',
    body: '{}',
    headers: {
      ...{ 'content-type': 'application/json', origin: installation.url(), 'sec-fetch-site': 'same-origin' },
    },
  });
  expect(await answer.json()).not.toHaveProperty('allowCredentials');
});

it('runs one script, by its hash, and frames in no page', async () => {
  const { headers, text } = await installation.browser().open('/sign-in');
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
  );
  expect(text).toContain('E-mail me a sign-in link');
});

it('are changed after a proof that is fresh by the clock of the database, whatever the clock of the server says', async () => {
  const browser = await installation.signIn(email);
  const now = Date.now;
  const mayChange = async (hours: number) => {
    Date.now = () => now() + hours * 3_600_000;
    try {
      return (await browser.open('/sign-in/passkeys')).text.includes('Create a passkey');
    } finally {
      Date.now = now;
    }
  };
  expect(await mayChange(1)).toBe(true);
  await expireRecentProof();
  expect(await mayChange(-1)).toBe(false);
});
