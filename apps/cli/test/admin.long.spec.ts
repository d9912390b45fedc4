import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '@muster/runtime';
import { cloneDatabase, type TestDatabase } from '@muster/testing';
import { mainFile } from './muster.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.close());

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the real file as a process. */
const musterOn = (url: string | undefined, ...args: string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const { DATABASE_URL: _, ...env } = process.env;
    execFile(
      process.execPath,
      [mainFile, ...args],
      { env: { ...env, ...(url !== undefined && { DATABASE_URL: url }) } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
const muster = (...args: string[]) => musterOn(database.url, 'admin', ...args);

const createOrg = (slug: string, ...more: string[]) =>
  muster(
    'org',
    'create',
    '--slug',
    slug,
    '--name',
    'Acme Corp',
    '--owner-email',
    'ana@acme.example',
    '--owner-name',
    'Ana',
    ...more,
  );

describe('muster admin', () => {
  it('takes an installation from nothing to a token that works, and ends it again', async () => {
    expect(await createOrg('acme', '--plan', 'team', '--seats', '3')).toEqual({
      code: 0,
      err: '',
      out: 'Created the organization Acme Corp (acme), plan team.\nIts owner is Ana <ana@acme.example>, @ana.\n',
    });
    expect((await muster('org', 'list')).out).toMatch(
      /^SLUG +NAME +PLAN +SEATS +SINCE\nacme +Acme Corp +team +3 +\d{4}-\d\d-\d\d\n$/,
    );

    expect(
      await muster(
        'member',
        'add',
        '--org',
        'acme',
        '--email',
        'ben@acme.example',
        '--name',
        'Ben',
        '--role',
        'admin',
      ),
    ).toEqual({
      code: 0,
      err: '',
      out: 'Added Ben <ben@acme.example>, @ben, as admin of acme.\n',
    });
    expect(
      (await muster('member', 'list', '--org', 'acme')).out.split('\n').map((line) => line.split(/ +/)[0]),
    ).toEqual(['EMAIL', 'ana@acme.example', 'ben@acme.example', '']);

    const made = await muster(
      'token',
      'create',
      '--org',
      'acme',
      '--member',
      'ben@acme.example',
      '--name',
      'bot',
      '--scopes',
      'read, write',
      '--agent',
      'Robo',
    );
    // The secret is alone on its line.
    const [said, note, secret, rest] = made.out.split('\n');
    expect(said).toMatch(
      /^Created the token "bot" of Robo, the agent of ben@acme.example, for read, write\. Its id is \S+; it expires on \d{4}-\d\d-\d\d\.$/,
    );
    expect(note).toBe('Copy it now; it will not be shown again:');
    expect(secret).toMatch(/^must_live_[0-9A-Za-z]{38}$/);
    expect(rest).toBe('');

    const authenticator = createAuthenticator(database.app);
    const { identity } = await authenticator.authenticate(secret ?? '');
    expect(identity).toMatchObject({ memberName: 'Ben', agentName: 'Robo', scopes: ['read', 'write'] });

    const listed = await muster('token', 'list', '--org', 'acme');
    expect(listed.out).toContain(`…${secret?.slice(-4) ?? ''}`);
    expect(listed.out).not.toContain(secret?.slice(10, 30));

    const revoked = await muster('token', 'revoke', '--org', 'acme', identity.tokenId);
    expect(revoked.out).toMatch(/^Token \S+ was revoked at \S+Z\.\n$/);
    const fresh = createAuthenticator(database.app);
    await expect(fresh.authenticate(secret ?? '')).rejects.toMatchObject({ status: 401 });
    await Promise.all([authenticator.close(), fresh.close()]);
  });

  it('speaks JSON to scripts', async () => {
    const created = JSON.parse((await createOrg('json', '--json')).out) as {
      org: { slug: string };
      owner: { handle: string };
    };
    expect(created).toMatchObject({ org: { slug: 'json' }, owner: { handle: 'ana' } });
    const token = JSON.parse(
      (
        await muster(
          'token',
          'create',
          '--org',
          'json',
          '--member',
          'ana@acme.example',
          '--name',
          't',
          '--scopes',
          'admin',
          '--json',
        )
      ).out,
    ) as unknown;
    expect(token).toEqual({
      token: expect.stringMatching(/^must_live_/),
      id: expect.any(String),
      expiresAt: expect.any(String),
    });
    const granted = JSON.parse(
      (await muster('platform', 'grant', '--org', 'json', '--member', 'ana@acme.example', '--json')).out,
    ) as {
      id: string;
    };
    const list = JSON.parse((await muster('token', 'list', '--org', 'json', '--json')).out) as {
      items: { id: string; scopes: string[] }[];
    };
    expect(list.items[0]).toMatchObject({ id: granted.id, scopes: ['platform'] });
    expect(list.items).toHaveLength(2);
    expect(JSON.parse((await muster('migrate', '--json')).out)).toEqual({ applied: [] });
  });

  it('answers what can be expected to go wrong with one line and exit code 1', async () => {
    await createOrg('full', '--seats', '1');
    const createToken = (member: string, scopes: string, ...more: string[]): Promise<Outcome> => {
      const named = ['--org', 'full', '--member', member, '--name', 't', '--scopes', scopes];
      return muster('token', 'create', ...named, ...more);
    };
    const asked = [
      () => createOrg('full'),
      () => createOrg('No', '--seats', '2'),
      () => createOrg('big', '--seats', '6'),
      () => muster('member', 'add', '--org', 'full', '--email', 'ben@acme.example', '--name', 'Ben'),
      () => muster('member', 'list', '--org', 'nowhere'),
      () => createToken('eve@acme.example', 'read'),
      () => createToken('ana@acme.example', 'platform'),
      () => createToken('ana@acme.example', 'read', '--agent', 'R', '--expires-in-days', '91'),
      () => muster('token', 'revoke', '--org', 'full', '01936d5c-0000-7000-8000-000000000001'),
    ];
    // Run the commands one after the other, because each command has only one second to reach the database.
    const failures: Outcome[] = [];
    for (const ask of asked) failures.push(await ask());
    expect(failures.map(({ code, out }) => ({ code, out }))).toEqual(
      failures.map(() => ({ code: 1, out: '' })),
    );
    expect(failures.map(({ err }) => err)).toEqual([
      'muster: A record with this name, key or slug already exists. (already_exists)\n',
      'muster: slug: must be 3 to 40 characters: a-z, 0-9 and -\n',
      'muster: A limit of the plan or of the product is reached. (limit_exceeded)\n',
      'muster: All paid seats are in use. (seats_exhausted)\n',
      'muster: There is no organization "nowhere".\n',
      'muster: There is no member "eve@acme.example" in full.\n',
      expect.stringMatching(/^muster: scopes\[0\]: [^\n]+\n$/),
      "muster: expiresInDays: an agent's token expires within 90 days\n",
      'muster: There is no token 01936d5c-0000-7000-8000-000000000001 in full.\n',
    ]);
  });

  it('says what is wrong with DATABASE_URL', async () => {
    const missing = await musterOn(undefined, 'admin', 'org', 'list');
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toMatch(/^muster: DATABASE_URL is not set; [^\n]+\n$/);
    expect((await musterOn('nonsense', 'admin', 'org', 'list')).err).toMatch(
      /^muster: DATABASE_URL is not a URL such as [^\n]+\n$/,
    );
    // Port 1 refuses connections.
    expect((await musterOn('postgres://127.0.0.1:1/muster', 'admin', 'org', 'list')).err).toBe(
      'muster: The database is unavailable.\n',
    );
    expect((await musterOn('postgres://127.0.0.1:1/muster', 'admin', 'migrate')).err).toMatch(
      /^muster: the database cannot be migrated: [^\n]+\n$/,
    );
  });

  it('says of a database without tables that it is to be migrated', async () => {
    const empty = new URL(database.url);
    empty.pathname = '/template1';
    expect((await musterOn(empty.href, 'admin', 'org', 'list')).err).toBe(
      'muster: The database has no tables yet.\n',
    );
  });

  it('is found by the words that it was made of before, which help does not show', async () => {
    await createOrg('before');
    expect((await musterOn(database.url, 'org', 'list')).out).toMatch(/^SLUG[^]*before/);
    expect(await musterOn(database.url, 'migrate')).toEqual({
      code: 0,
      err: '',
      out: 'The schema is up to date.\n',
    });
    expect((await musterOn(database.url, 'outbox', 'list')).out).toBe('None.\n');
    const help = (await musterOn(undefined, '--help')).out;
    expect(help).toContain('\n  admin ');
    expect(help).not.toMatch(/\n {2}(org|outbox|migrate) /);
  });

  it('tells a command line that is wrong from a command that failed', async () => {
    expect(await muster('org', 'create', '--slug', 'x')).toMatchObject({
      code: 2,
      err: expect.stringContaining("required option '--name <name>' not specified"),
    });
  });
});
