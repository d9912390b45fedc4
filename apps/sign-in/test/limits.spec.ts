/** Rate limits per address for sign-in: secrets, codes and requested e-mails. */
import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { request } from 'undici';
import { useInstallation } from './installation.ts';

const maxRequests = 12;
const installation = useInstallation({ LIMIT_SIGN_IN: `${maxRequests}/600` }, { host: 'localhost' });

/** Gives each test its own network, which the API passes on. */
let networkCount = 0;
const jsonHeaders = { 'content-type': 'application/json' };

describe('an address tries no more than it may', () => {
  it.each<[string, 'GET' | 'POST', string, string, Record<string, string>]>([
    ['links that are asked for', 'POST', '/auth/link', 'email=x', {}],
    ['links that are looked at', 'GET', `/auth/link?token=${'a'.repeat(43)}`, '', {}],
    ['links that are used', 'POST', '/auth/link/use', `token=${'a'.repeat(43)}`, {}],
    ['codes', 'POST', '/auth/code', 'code=BCDFGHJK', {}],
    ['ways to issuers', 'POST', '/auth/issuer', `provider=${newId()}`, {}],
    ['answers of issuers', 'GET', `/auth/issuer/${newId()}?code=x`, '', {}],
    ['challenges', 'POST', '/auth/passkey/options', '{}', jsonHeaders],
    ['passkeys', 'POST', '/auth/passkey', '{}', jsonHeaders],
  ])('%s', async (_what, method, path, body, headers) => {
    networkCount += 1;
    const from = `198.51.100.${networkCount}`;
    const ask = async (): Promise<number> => {
      const answer = await request(new URL(path, installation.signInUrl()), {
        method,
        headers: {
          ...{ 'x-forwarded-for': from, origin: installation.url(), 'sec-fetch-site': 'same-origin' },
          ...{ 'content-type': 'application/x-www-form-urlencoded', ...headers },
        },
        ...(method === 'POST' && { body }),
      });
      await answer.body.dump();
      return answer.statusCode;
    };
    const statuses: number[] = [];
    for (let index = 0; index < maxRequests; index += 1) statuses.push(await ask());
    expect(statuses).not.toContain(429);
    expect(await ask()).toBe(429);
  });
});
