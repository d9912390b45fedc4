/** In a real browser: a person signs in at their company and consents to a program. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { useCompanyIssuer } from '@muster/testing/company';
import { inBrowser, useLooks } from '@muster/testing/looks';
import { createCompany } from './company.ts';
import { useInstallation } from './installation.ts';
import { callWith, clientOf, register } from './oauth.ts';

const installation = useInstallation(
  { OAUTH_DYNAMIC_REGISTRATION: 'on' },
  { host: 'localhost', networks: '127.0.0.0/8:*' },
);
const company = useCompanyIssuer();

const { withPage, look } = useLooks();

/** The program's server, to which the browser is redirected. */
let clientServer: Server;
let redirectUri = '';
beforeAll(async () => {
  clientServer = createServer((_request, response) => response.end('Back at the program')).listen(
    0,
    '127.0.0.1',
  );
  await once(clientServer, 'listening');
  redirectUri = `http://127.0.0.1:${(clientServer.address() as AddressInfo).port}/callback`;
});
afterAll(() => {
  clientServer.close();
  clientServer.closeAllConnections();
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  inBrowser(
    'a person signs in at their company, lets a program in, and the program calls as their agent',
    async () => {
      const named = await createCompany(installation, company);
      const { email, subject } = await named.employee();
      const client = clientOf(installation, await register(installation, { redirect_uris: [redirectUri] }));
      await withPage(
        async (page) => {
          await page.goto(
            new URL(client.authorizeUrl({ redirect_uri: redirectUri }), installation.url()).href,
          );
          await page.getByLabel('E-mail address').fill(email);
          await page.getByRole('button', { name: 'E-mail me a sign-in link' }).click();
          const onward = page.getByRole('button', { name: 'Continue with Acme Login' });
          await onward.waitFor();
          await look(page, `ways-${colorScheme}`);
          await onward.click();
          await page.getByLabel('Who are you?').fill(subject);
          await page.getByRole('button', { name: 'Sign in at Acme' }).click();
          const connect = page.getByRole('button', { name: /^Connect/ });
          await connect.waitFor();
          await look(page, `consent-${colorScheme}`);
          await page.locator('input[name=agentName]').fill('Helper');
          await page.getByLabel('All projects').check();
          await connect.click();
          await page.getByText('Back at the program').waitFor();
          const back = new URL(page.url()).searchParams;
          expect(back.get('state')).toBe('xyz');
          const { status, body } = await client.exchange(back.get('code') ?? '', {
            redirect_uri: redirectUri,
          });
          expect(status).toBe(200);
          const called = await callWith(installation, String(body['access_token']), 'session.identity');
          expect([called.status, called.body['agent']]).toMatchObject([200, { name: 'Helper' }]);
        },
        { colorScheme },
      );
    },
  );
});
