import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, programEnvironment, type TestDatabase } from '@muster/testing';
import { mainFile } from './muster.ts';

let home: TestDatabase;
let east: TestDatabase;
beforeAll(async () => {
  [home, east] = [await cloneDatabase(), await cloneDatabase()];
});
afterAll(() => Promise.all([home.close(), east.close()]));

const admin = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    const env = {
      ...{ ...programEnvironment(), DATABASE_URL: home.url },
      DATABASE_NODES: `east=${east.url}`,
    };
    execFile(process.execPath, [mainFile, 'admin', ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const create = (slug: string, node: string) =>
  admin(
    ...['org', 'create', '--slug', slug, '--name', 'Acme', '--node', node],
    ...['--owner-email', 'ana@acme.example', '--owner-name', 'Ana'],
  );
const slugsAt = async ({ owner }: TestDatabase): Promise<string[]> =>
  (await owner.query<{ slug: string }>('select slug from orgs order by slug')).rows.map(({ slug }) => slug);

describe('muster admin, with a second server', () => {
  it('makes an organization there, and finds it by its slug', async () => {
    expect((await create('acme', 'east')).code).toBe(0);
    expect([await slugsAt(home), await slugsAt(east)]).toEqual([[], ['acme']]);
    expect((await admin('member', 'list', '--org', 'acme')).out).toContain('ana@acme.example');
    expect((await admin('org', 'list')).out).toContain('acme');
    expect((await create('acme', 'home')).err).toContain('already_exists');
  });

  it('moves it, and shows which server has how many', async () => {
    const moved = await admin('move', '--org', 'acme', '--to', 'home', '--json');
    expect(JSON.parse(moved.out)).toMatchObject({
      org: 'acme',
      to: 'home',
      moved: { from: 'east', to: 'home' },
    });
    expect([await slugsAt(home), await slugsAt(east)]).toEqual([['acme'], []]);
    expect((await admin('move', '--org', 'acme', '--to', 'home')).out).toBe('acme is on home.\n');
    const shown = await admin('nodes', '--json');
    expect(JSON.parse(shown.out)).toMatchObject({
      nodes: [
        { name: 'home', state: 'ok', organizations: 1, takesNew: true },
        { name: 'east', state: 'ok', organizations: 0, takesNew: true },
      ],
      moves: [],
    });
    expect((await admin('member', 'list', '--org', 'acme')).out).toContain('ana@acme.example');
  });

  it('refuses what is nowhere', async () => {
    expect(await admin('move', '--org', 'acme', '--to', 'west')).toMatchObject({ code: 1, out: '' });
    expect(await admin('move', '--org', 'nobody', '--to', 'east')).toMatchObject({ code: 1, out: '' });
  });

  it('keeps new organizations away from a server, unless an operator names it', async () => {
    await admin('place', 'home', '--new', 'no');
    await admin(
      'org',
      'create',
      ...['--slug', 'beta', '--name', 'Beta'],
      ...['--owner-email', 'ben@beta.example', '--owner-name', 'Ben'],
    );
    expect([await slugsAt(home), await slugsAt(east)]).toEqual([['acme'], ['beta']]);
    expect((await admin('place', 'home', '--new', 'yes')).code).toBe(0);
  });

  it('brings every server to the newest schema', async () => {
    expect(JSON.parse((await admin('migrate', '--json')).out)).toEqual({ applied: [], nodes: { east: [] } });
  });
});
