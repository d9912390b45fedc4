import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Authorize, type RepositoryToCall, createAuthorizedCalls } from './authorize.ts';
import { type SendForgeRequest, ForgeRefusal } from './call.ts';

const newKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
const [ours, theirs] = [newKey(), newKey()];

const json = (value: unknown) => ({ status: 200, headers: {}, text: JSON.stringify(value) });

describe('the token of an installation of a GitHub App', () => {
  let asked: string[];
  let authorize: Authorize;
  let askBy: SendForgeRequest;
  let refusal: number | undefined;

  beforeEach(() => {
    [asked, refusal] = [[], undefined];
    const ask: SendForgeRequest = async ({ method, url }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      if (url.endsWith('/statuses')) return { ...json({}), status: refusal ?? 201 };
      if (method === 'GET') return json({ id: 7 });
      const expiresAt = new Date(Date.now() + 60 * 60_000).toISOString();
      return json({ token: `token ${asked.length}`, expires_at: expiresAt });
    };
    ({ authorize, ask: askBy } = createAuthorizedCalls(ask));
  });

  const connection = (connectionId: string, privateKey: string): RepositoryToCall => ({
    ...{ connectionId, kind: 'github', baseUrl: 'https://github.com', fullName: 'acme/api' },
    credentials: JSON.stringify({ appId: 42, privateKey }),
  });

  it('is asked for once, as long as it lives', async () => {
    const first = await authorize(connection('one', ours));
    expect(first).toMatchObject({ authorization: 'Bearer token 2' });
    expect(await authorize(connection('one', ours))).toEqual(first);
    expect(asked).toEqual(['GET /repos/acme/api/installation', 'POST /app/installations/7/access_tokens']);
  });

  it('is asked for again once it was refused: the app was installed anew, or may do more by now', async () => {
    const send = async () =>
      askBy({
        ...{ method: 'POST', url: 'https://api.github.com/statuses' },
        headers: await authorize(connection('one', ours)),
      });
    refusal = 401;
    await expect(send()).rejects.toMatchObject({ isFinal: false, quietUntil: null });
    refusal = 403;
    expect(await send()).toMatchObject({ status: 403 });
    expect(await authorize(connection('one', ours))).toMatchObject({ authorization: 'Bearer token 8' });
    // The request carries no installation token from the cache, so the refusal is returned unchanged.
    refusal = 401;
    const own = { method: 'POST', url: 'https://api.github.com/statuses', headers: {} } as const;
    expect(await askBy(own)).toMatchObject({ status: 401 });
  });

  it('serves no connection of another organization that names the same app and repository', async () => {
    await authorize(connection('one', ours));
    const other = await authorize(connection('two', theirs));
    expect(other).toMatchObject({ authorization: 'Bearer token 4' });
    expect(asked).toHaveLength(4);
  });

  it('is asked for again with the key that the connection was changed to', async () => {
    await authorize(connection('one', ours));
    const changed = await authorize(connection('one', theirs));
    expect(changed).toMatchObject({ authorization: 'Bearer token 4' });
    await expect(authorize(connection('one', 'no key'))).rejects.toThrow(ForgeRefusal);
  });
});
