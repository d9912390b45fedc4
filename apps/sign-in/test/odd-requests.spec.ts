/** Requests that none of our pages sends but a program may. None of them causes a 5xx. */
import { beforeEach, expect, it } from '@jest/globals';
import { request } from 'undici';
import { type Browser, useInstallation } from './installation.ts';
import { arrangeConsent, clientOf, openRequest, register } from './oauth.ts';

const installation = useInstallation({
  ...{ OAUTH_DYNAMIC_REGISTRATION: 'on', SIGN_UP: 'open', DEMO_ACCOUNT: 'demo@acme.example' },
});

let browser: Browser;
beforeEach(async () => {
  ({ browser } = await arrangeConsent(installation));
});

/** Sends a form as JSON with the same value in each field. */
async function send(path: string, value: unknown): Promise<number> {
  const names = ['email', 'to', 'by', 'token', 'code', 'provider', 'name', 'passkey', 'user_code', 'org'];
  const fields = [...names, 'agent', 'agentName', 'scope', 'days', 'in', 'organization', 'invitation'];
  const answer = await request(new URL(path, installation.url()), {
    method: 'POST',
    headers: {
      ...{ origin: installation.url(), 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      cookie: [...browser.cookies].map((cookie) => cookie.join('=')).join('; '),
    },
    body: JSON.stringify({ ...Object.fromEntries(fields.map((name) => [name, value])), answer: 'connect' }),
  });
  await answer.body.dump();
  return answer.statusCode;
}

it.each([5, ['x'], { x: 1 }, null])('a form of other values than texts: %j', async (value) => {
  const client = clientOf(installation, await register(installation));
  const { at } = await openRequest(browser, client.authorizeUrl());
  const { body } = await client.post('/oauth/device/authorize', { client_id: 'muster-cli' });
  const code = String(body['user_code']);
  const statuses: Record<string, number> = {};
  for (const path of [
    ...['/auth/link', '/auth/link/use', '/auth/code', '/auth/issuer', '/auth/organization', '/auth/demo'],
    ...[
      '/auth/passkeys/rename',
      '/auth/passkeys/delete',
      '/auth/passkey',
      '/auth/passkeys',
      at,
      '/oauth/device',
    ],
    ...['/invitations/join', `/oauth/device?user_code=${code}`, '/auth/sign-out'],
  ])
    statuses[path] = await send(path, value);
  expect(Object.entries(statuses).filter(([, status]) => status >= 500)).toEqual([]);
});

it.each([
  ...[
    '/sign-in',
    '/sign-in/invitations',
    '/auth/link',
    '/auth/session',
    '/oauth/device',
    '/sign-in/passkeys',
  ],
])('a parameter that is there twice, of %s', async (path) => {
  const names = ['to', 'again', 'organization', 'refused', 'joined', 'token', 'user_code', 'org'];
  for (const name of names) {
    const { status } = await browser.open(`${path}?${name}=a&${name}=b`);
    expect([name, status < 500]).toEqual([name, true]);
  }
});
