/** Rate limits per address for device codes and client registrations. */
import { expect, it } from '@jest/globals';
import { arrangeConsent, clientOf, register } from './oauth.ts';
import { useInstallation } from './installation.ts';

const installation = useInstallation({ OAUTH_DYNAMIC_REGISTRATION: 'on', LIMIT_SIGN_IN: '20/600' });

it('lets no address try codes of devices, or register clients, without end', async () => {
  const { browser } = await arrangeConsent(installation);
  const { body } = await clientOf(installation, 'muster-cli').post('/oauth/device/authorize', {
    client_id: 'muster-cli',
  });
  const statuses: number[] = [];
  for (let index = 0; index < 25; index += 1)
    statuses.push((await browser.submit('/oauth/device', { user_code: 'BBBBBBBB' })).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([422, 429]);
  // Sending the form directly does not bypass the limit.
  const code = String(body['user_code']);
  expect((await browser.submit('/oauth/device', { user_code: code, answer: 'refuse' })).status).toBe(429);
  await expect(register(installation)).rejects.toThrow(/too_many_attempts/);
});

it('keeps no requests without end of an address that no person has answered', async () => {
  const client = clientOf(installation, 'muster-cli');
  const address = client.authorizeUrl({ redirect_uri: 'http://127.0.0.1/callback', resource: undefined });
  const ask = [
    async () => (await installation.browser().open(address)).status,
    async () => (await client.post('/oauth/device/authorize', { client_id: 'muster-cli' })).status,
  ];
  const kept = () => installation.world.rows(`select from sign_in.oauth_records where model <> 'Client'`);
  const before = (await kept()).length;
  const statuses: number[] = [];
  for (let index = 0; index < 105; index += 1) for (const one of ask) statuses.push(await one());
  expect((await kept()).length - before).toBeLessThanOrEqual(200);
  expect([statuses[0], statuses.at(-1)]).toEqual([303, 429]);
});
