/** Tests the customer and support pages in a real browser without scripts. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createVisitor } from '@muster/testing/visitor';
import { type Page } from 'playwright-core';
import { renewLicense, setMachineLimit, replaceKey } from '../src/operators/change.ts';
import { listReleases, publishRelease, setDownloads } from '../src/operators/releases.ts';
import { setPlan } from '../src/operators/plans.ts';
import { makeToken, revokeToken } from '../src/operators/tokens.ts';
import { makeProduct } from '../src/operators/products.ts';
import { inBrowser, useLooks } from '@muster/testing/looks';
import { type LicenseWorld, noLimits, openLicenseWorld, type RunningService } from './world.ts';

const { withPage, look } = useLooks({ javaScriptEnabled: false });

let world: LicenseWorld;
let service: RunningService;
let secret: string;
let saleCount = 0;
beforeAll(async () => {
  world = await openLicenseWorld();
  const terms = { term: { kind: 'for', seconds: 365 * 86_400 }, transferLimit: 2, machineLimit: 2 } as const;
  await world.asOperator((ask) => setPlan(ask, { ...terms, name: 'family' }));
  await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  ({ secret } = await world.asOperator((ask) =>
    makeToken(ask, { name: 'support-ana', scopes: ['read', 'change', 'issue'] }),
  ));
  service = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '100000/1' } });
});
afterAll(() => world.close());

/** Issues a license, held by a laptop and a desktop, that has refused a third machine. Returns its customer link. */
async function sellLicense(): Promise<{ id: string; key: string; orderRef: string; url: string }> {
  saleCount += 1;
  const orderRef = `shop-${saleCount}`;
  const { json } = await service.post(
    '/api/operators/licenses/issue',
    { plan: 'family', orderRef, customerRef: 'c-17' },
    { authorization: `Bearer ${secret}` },
  );
  const [one] = json['licenses'] as { id: string; key: string; customerUrl: string }[];
  if (one === undefined) throw new Error('nothing was issued');
  for (const machine of ['laptop-of-ana-7f3c', 'desktop-of-ana-91b2', 'tablet-of-ana-22aa'])
    await service.activate(one.key, machine);
  return { id: one.id, key: one.key, orderRef, url: one.customerUrl };
}

/** Issues a license that no machine holds yet. */
async function sellOneLicense(): Promise<{ key: string; customerUrl: string }> {
  saleCount += 1;
  const { json } = await service.post(
    '/api/operators/licenses/issue',
    { plan: 'family', orderRef: `shop-${saleCount}` },
    { authorization: `Bearer ${secret}` },
  );
  const [one] = json['licenses'] as { key: string; customerUrl: string }[];
  if (one === undefined) throw new Error('nothing was issued');
  return one;
}

/** Gives the plan meters and publishes a release, once. */
async function offerUsageAndDownloads(): Promise<void> {
  const meters = {
    exports: { limit: 100, period: 'month', overLimit: 'refuse' },
    renders: { limit: 1_000, period: 'total', overLimit: 'count' },
  };
  await world.rows('update licenses.plans set meters = $1', JSON.stringify(meters));
  await world.asOperator(async (db) => {
    if ((await listReleases(db, { product: 'default', limit: 1 })).length > 0) return;
    const downloadsUrl = 'https://files.example.com/{file}?expires={expires}&signature={signature}';
    await setDownloads(db, 'default', { downloadsUrl });
    const sha256 = 'c0ffee'.repeat(11).slice(0, 64);
    const artifacts = ['linux-x64', 'darwin-arm64', 'win32-x64'].map((platform) => ({
      ...{ name: `acme-studio-1.4.0-${platform}.tar.gz`, platform, size: 48_200_000, sha256 },
    }));
    const notesUrl = 'https://example.com/releases/1.4.0';
    await publishRelease(db, {
      product: 'default',
      version: '1.4.0',
      channel: 'stable',
      notesUrl,
      artifacts,
    });
  });
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${service.url}/support`);
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('search').waitFor();
}

describe('a customer', () => {
  inBrowser('sees the machines by the link of the mail, and gives one to another', async () => {
    const { key, url } = await sellLicense();
    await withPage(async (page) => {
      await page.goto(url);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(key.slice(-4));
      expect(await page.getByText('2 of 2').count()).toBe(1);
      await page.getByRole('button', { name: 'Release machine 2' }).click();
      await page.getByText('Machine released').waitFor();
      expect(await page.getByText('1 of 2').count()).toBe(1);
      expect(await page.getByText('one more time').count()).toBe(1);
    });
    expect((await service.activate(key, 'tablet-of-ana-22aa')).status).toBe(200);
    expect((await service.activate(key, 'desktop-of-ana-91b2')).status).toBe(409);
  });

  inBrowser('does so as often as the plan allows, and is told so then', async () => {
    const { id, url } = await sellLicense();
    await world.rows('update licenses.licenses set transfers = transfer_limit where id = $1', id);
    await withPage(async (page) => {
      await page.goto(url);
      await page.getByText('the number of machine changes that its plan allows').waitFor();
      expect(await page.getByRole('button', { name: 'Release' }).count()).toBe(0);
    });
    const forced = await service.call(`${new URL(url).pathname}/release`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.url },
      body: 'slot=1',
    });
    expect(forced.status).toBe(403);
  });

  inBrowser('answers a machine without a connection by two files', async () => {
    const { url } = await sellLicense();
    const { key, customerUrl } = await sellOneLicense();
    const request = (licenseKey: string) => ({
      name: 'license-request.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        `licreq1.${Buffer.from(JSON.stringify({ licenseKey, machineId: 'far-away-0001', nonce: 'n-1' })).toString('base64url')}\n`,
      ),
    });
    await withPage(async (page) => {
      await page.goto(customerUrl);
      await page.getByLabel('Request file that the program wrote').setInputFiles(request(key));
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download answer' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('license-answer.txt');
      expect(await readFile(await download.path(), 'utf8')).toMatch(/^licans1\.[\w-]+\.[\w-]+\n$/);
      await page.goto(url);
      await page.getByLabel('Request file that the program wrote').setInputFiles(request(key));
      await page.getByRole('button', { name: 'Download answer' }).click();
      await page.getByText('for another license key').waitFor();
    });
  });

  it.each([
    ['suspended', `status = 'suspended'`, 'is suspended'],
    ['revoked', `status = 'revoked'`, 'was revoked'],
    ['expired', `expires_at = now() - interval '1 hour'`, 'has expired'],
  ])('is promised nothing by a license that is %s, and pays no transfer for it', async (_, set, words) => {
    const { id, url } = await sellLicense();
    await world.rows(`update licenses.licenses set ${set} where id = $1`, id);
    const { pathname } = new URL(url);
    const { text } = await service.call(pathname);
    expect(text).toContain(`This license ${words}. No machine can use it. Contact the seller.`);
    expect(text).not.toMatch(/<button|more time|takes the place/);
    const forced = await service.call(`${pathname}/release`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.url },
      body: 'slot=1',
    });
    expect(forced.status).toBe(403);
    expect(await world.rows('select transfers from licenses.licenses where id = $1', id)).toEqual([
      { transfers: 0 },
    ]);
  });

  it('is what the trail says, and no machine’s id is on the page', async () => {
    const { id, key, url } = await sellLicense();
    const address = new URL(url).pathname;
    const page = await service.call(address);
    expect(page.status).toBe(200);
    for (const hidden of [key, 'laptop-of-ana', id]) expect(page.text).not.toContain(hidden);
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: service.url };
    const released = () =>
      service.call(`${address}/release`, { method: 'POST', headers: form, body: 'slot=1' });
    expect((await released()).status).toBe(200);
    expect((await released()).status).toBe(404);
    const [event] = await world.rows<{ actor: string }>(
      `select actor from licenses.license_events where license_id = $1 and kind = 'released'`,
      id,
    );
    expect(event?.actor).toBe('customer');
  });

  it('is told on a page of a file that is too long', async () => {
    const form = new FormData();
    form.set('request', new File(['x'.repeat(100_000)], 'request.txt'));
    const { status, headers, text } = await service.call(
      `${new URL((await sellLicense()).url).pathname}/answer`,
      {
        ...{ method: 'POST', body: form, headers: { origin: service.url } },
      },
    );
    expect([status, headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
    expect(text).not.toContain('went wrong on the server');
  });

  it('needs a link that is whole, not over, and of the key of now', async () => {
    const { id, url } = await sellLicense();
    const address = new URL(url).pathname;
    const [what = '', until = '', mac = ''] = address.slice('/my/'.length).split('.');
    const other = await sellLicense();
    const [otherWhat = ''] = new URL(other.url).pathname.slice('/my/'.length).split('.');
    const later = (parseInt(until, 36) + 1).toString(36);
    for (const link of [
      ...['x', `${what}.${until}`, `${what}.${until}.${mac.slice(0, -2)}AA`, `${what}.${later}.${mac}`],
      ...[`${otherWhat}.${until}.${mac}`, `${what}.${until}.${mac}.`],
    ])
      expect([link, (await service.call(`/my/${link}`)).status]).toEqual([link, 404]);
    await world.asOperator((ask) => replaceKey(ask, { id }));
    expect((await service.call(address)).status).toBe(404);
  });
});

describe('support', () => {
  inBrowser('finds a license, sees why a machine was refused, and frees a place', async () => {
    const { key, orderRef } = await sellLicense();
    await withPage(async (page) => {
      await signIn(page);
      await page.getByLabel('Order, customer').fill(key.slice(-4));
      await page.getByRole('button', { name: 'Search' }).click();
      expect(await page.getByText(orderRef).count()).toBe(1);
      await page.getByRole('link', { name: `…${key.slice(-4)}` }).click();
      await page.getByText('Other machines use all slots').waitFor();
      await page.getByRole('button', { name: 'Release slot 1' }).click();
      await page.getByText('Slot released').waitFor();
      expect(await page.getByText('by token support-ana').count()).toBeGreaterThan(0);
    });
    expect((await service.activate(key, 'tablet-of-ana-22aa')).status).toBe(200);
  });

  inBrowser('is signed in until it signs out, or its token is taken back', async () => {
    const { token, secret: own } = await world.asOperator((ask) =>
      makeToken(ask, { name: 'short', scopes: ['read'] }),
    );
    await withPage(async (page) => {
      await page.goto(`${service.url}/support`);
      await page.getByLabel('Token').fill('mlt_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      expect(await page.getByRole('alert').innerText()).toContain('unknown, expired or revoked');
      await page.getByLabel('Token').fill(own);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('search').waitFor();
      const [cookie] = await page.context().cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
      expect(cookie?.value).not.toContain(own);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').fill(own);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await world.asOperator((ask) => revokeToken(ask, token.id));
      await page.goto(`${service.url}/support?q=anything`);
      expect(await page.getByLabel('Token').count()).toBe(1);
    });
  });

  it('reaches licenses of its own product alone, and changes none without the scope', async () => {
    const cookie = await sessionOf(secret);
    const other = await world.issue({ product: 'acme', orderRef: 'of-acme' });
    const get = (address: string, session = cookie) =>
      service.call(address, { headers: { cookie: session } });
    expect((await get(`/support/licenses/${other.id}`)).status).toBe(404);
    expect((await get('/support?q=of-acme')).text).toContain('Nothing found');
    const { id } = await sellLicense();
    const { secret: reader } = await world.asOperator((ask) =>
      makeToken(ask, { name: 'reader', scopes: ['read'] }),
    );
    const session = await sessionOf(reader);
    // A person who may only read must not see the customer's link, because the link lets its holder release
    // machines.
    expect((await get(`/support/licenses/${id}`)).text).toContain('/my/');
    expect((await get(`/support/licenses/${id}`, session)).text).not.toMatch(/Release slot|\/my\//);
    expect((await free(id, session)).status).toBe(403);
    expect((await free(id, cookie)).status).toBe(200);
  });

  it('reads what was changed: an end of before as a time, and a number of machines as one', async () => {
    const { id } = await sellLicense();
    await world.asOperator((ask) => setMachineLimit(ask, { id }, 5));
    await world.asOperator((ask) => renewLicense(ask, { id }, { kind: 'perpetual' }));
    const headers = { cookie: await sessionOf(secret) };
    const { text } = await service.call(`/support/licenses/${id}`, { headers });
    expect(text).toContain('before 2, machines 5');
    expect(text).not.toContain('ended before 2,');
    expect(text).toMatch(/ended before \d{4}-\d\d-\d\d/);
  });

  it('takes no form of another site, and no session that was made up', async () => {
    const { id } = await sellLicense();
    const cookie = await sessionOf(secret);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
      { origin: service.url, 'sec-fetch-site': 'same-site' },
    ])
      expect((await free(id, cookie, headers)).status).toBe(403);
    const forged = `license-support=${'A'.repeat(43)}`;
    expect((await free(id, forged)).text).toContain('Sign in');
    expect(await world.rows('select from licenses.held_machines where license_id = $1', id)).toHaveLength(2);
  });

  const free = (
    id: string,
    cookie: string,
    headers: Record<string, string> = { origin: service.url, 'sec-fetch-site': 'same-origin' },
  ) =>
    service.call(`/support/licenses/${id}/release`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie, ...headers },
      body: 'slot=1',
    });

  async function sessionOf(token: string): Promise<string> {
    const visitor = createVisitor(() => service.url);
    expect((await visitor.submit('/support/sign-in', { token })).status).toBe(303);
    return `license-support=${visitor.cookies.get('license-support') ?? ''}`;
  }
});

inBrowser('has a home page that leads on, and a page for browsers at a path that is not there', async () => {
  await withPage(async (page) => {
    await page.goto(service.url);
    await page.getByRole('heading', { level: 1, name: 'License service' }).waitFor();
    await page.getByRole('link', { name: 'Sign in to support' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in to support' }).waitFor();
    await page.goto(`${service.url}/nothing`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Licenses' }).click();
    await page.getByRole('heading', { level: 1, name: 'License service' }).waitFor();
  });
  expect((await service.call('/nothing')).headers.get('content-type')).toContain('application/json');
  for (const address of ['/openapi.json', '/api/operators/openapi.json'])
    expect((await service.call(address)).status).toBe(200);
});

it('nothing runs on a page, nothing is fetched, and no page frames it', async () => {
  const { url } = await sellLicense();
  for (const address of ['/', new URL(url).pathname, '/support', '/my/x']) {
    const { headers, text } = await service.call(address);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`default-src 'none'`);
    expect(policy).toContain(`frame-ancestors 'none'`);
    expect(policy).not.toMatch(/script-src|unsafe/);
    expect(text).not.toMatch(/<script|<img|<link/);
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser('each page is for everybody, and fits every width', async () => {
    const { id, key, url } = await sellLicense();
    await offerUsageAndDownloads();
    const events = [
      { id: 'e-1', meter: 'exports', quantity: 5 },
      { id: 'e-2', meter: 'renders', quantity: 1_250 },
    ];
    await service.post('/api/usage', { licenseKey: key, machineId: 'laptop-of-ana-7f3c', events });
    await withPage(
      async (page) => {
        await page.goto(service.url);
        await look(page, `home-${colorScheme}`);
        await page.goto(`${service.url}/my/x`);
        await look(page, `bad-link-${colorScheme}`);
        await page.goto(`${service.url}/support`);
        await look(page, `sign-in-${colorScheme}`);
        await signIn(page);
        for (const [name, address] of [
          ['customer', url],
          ['search', `${service.url}/support?q=c-17`],
          ['license', `${service.url}/support/licenses/${id}`],
        ] as const) {
          await page.goto(address);
          await look(page, `${name}-${colorScheme}`);
        }
      },
      { colorScheme, javaScriptEnabled: true },
    );
  });
});
