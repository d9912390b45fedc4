/** Signing in as a demo member with one click, only on the same machine. */
import { expect, it } from '@jest/globals';
import { request } from 'undici';
import { readConfig } from '../src/config.ts';
import { useInstallation } from './installation.ts';

const member = 'demo@acme.example';
const installation = useInstallation({ DEMO_ACCOUNT: member });
const { world } = installation;

it('signs in the demo’s member, and no one who asks from another machine or another origin', async () => {
  const { orgId, ana } = await world.org();
  await world.rows('update members set email = $2 where id = $1', ana.me.memberId, member);
  const ask = async (headers: Record<string, string>) => {
    const answer = await request(new URL('/auth/demo', installation.signInUrl()), {
      method: 'POST',
      headers: {
        ...{ origin: installation.url(), 'sec-fetch-site': 'same-origin' },
        ...{ 'content-type': 'application/x-www-form-urlencoded', ...headers },
      },
      body: '',
    });
    await answer.body.dump();
    return [answer.statusCode, answer.headers['set-cookie'] !== undefined];
  };
  expect(await ask({ 'x-forwarded-for': '203.0.113.9' })).toEqual([403, false]);
  expect(await ask({ 'sec-fetch-site': 'cross-site' })).toEqual([403, false]);
  expect(await ask({})).toEqual([303, true]);
  const browser = installation.browser();
  expect((await browser.submit('/auth/demo', { to: '//evil.example' })).location).toBe('/sign-in');
  expect((await browser.call(orgId, 'session.identity')).status).toBe(200);
});

it.each([
  ['an address of the web', { BASE_URL: 'https://muster.example', HOST: '127.0.0.1' }],
  ['every address of the machine', { BASE_URL: 'http://localhost:5100', HOST: '0.0.0.0' }],
])('does not start at %s', (_what, where) => {
  const own = { DATABASE_URL: 'postgres://localhost/x', MAIL_FOLDER: 'x', DEMO_ACCOUNT: member };
  expect(() => readConfig({ ...own, ...where })).toThrow(
    'DEMO_ACCOUNT is allowed only if BASE_URL is local to this machine and HOST is 127.0.0.1',
  );
  expect(() => readConfig({ ...own, BASE_URL: 'http://localhost:5100', HOST: '127.0.0.1' })).not.toThrow();
});
