/** In a real browser: a person signs in at their company and consents to a program. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { type AxeResults } from 'axe-core';
import { type Browser as Chromium, type Page } from 'playwright-core';
import { inBrowser, launch } from './chromium.ts';
import { useCompanyIssuer } from '@muster/testing/company';
import { nameCompany } from './company.ts';
import { useInstallation } from './installation.ts';
import { callWith, clientOf, register } from './oauth.ts';

const installation = useInstallation(
  { OAUTH_DYNAMIC_REGISTRATION: 'on' },
  { host: 'localhost', networks: '127.0.0.0/8:*' },
);
const company = useCompanyIssuer();

let chromium: Chromium | undefined;
let axe = '';
/** The program's server, to which the browser is redirected. */
let program: Server;
let redirectUri = '';
beforeAll(async () => {
  chromium = await launch();
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  program = createServer((_request, response) => response.end('Back at the program')).listen(0, '127.0.0.1');
  await once(program, 'listening');
  redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
});
afterAll(async () => {
  await chromium?.close();
  program.close();
  program.closeAllConnections();
});

/** Checks the requirements for all pages, at each width. */
async function lookAt(page: Page, what: string, scheme: string): Promise<void> {
  for (const width of [1440, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect([what, width, overflow]).toEqual([what, width, 0]);
    const shots = process.env['SHOTS'];
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/${what}-${width}-${scheme}.png`, fullPage: true });
  }
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as AxeResults;
  expect([what, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([what, []]);
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser(
    'a person signs in at their company, lets a program in, and the program calls as their agent',
    async () => {
      if (chromium === undefined) throw new Error('there is no browser');
      const named = await nameCompany(installation, company);
      const { email, subject } = await named.employee();
      const client = clientOf(installation, await register(installation, { redirect_uris: [redirectUri] }));
      const context = await chromium.newContext({ colorScheme });
      try {
        const page = await context.newPage();
        await page.goto(new URL(client.authorizeUrl({ redirect_uri: redirectUri }), installation.url()).href);
        await page.getByLabel('E-mail address').fill(email);
        await page.getByRole('button', { name: 'E-mail me a sign-in link' }).click();
        const onward = page.getByRole('button', { name: 'Continue with Acme Login' });
        await onward.waitFor();
        await lookAt(page, 'ways', colorScheme);
        await onward.click();
        await page.getByLabel('Who are you?').fill(subject);
        await page.getByRole('button', { name: 'Sign in at Acme' }).click();
        const connect = page.getByRole('button', { name: /^Connect/ });
        await connect.waitFor();
        await lookAt(page, 'consent', colorScheme);
        await page.locator('input[name=agentName]').fill('Helper');
        await page.getByLabel('All projects').check();
        await connect.click();
        await page.getByText('Back at the program').waitFor();
        const back = new URL(page.url()).searchParams;
        expect(back.get('state')).toBe('xyz');
        const { status, body } = await client.exchange(back.get('code') ?? '', { redirect_uri: redirectUri });
        expect(status).toBe(200);
        const called = await callWith(installation, String(body['access_token']), 'session.identity');
        expect([called.status, called.body['agent']]).toMatchObject([200, { name: 'Helper' }]);
      } finally {
        await context.close();
      }
    },
  );
});
