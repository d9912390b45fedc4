/**
 * Tests sign-in from the command line with a code, and its later use: real API, real sign-in, a person who
 * consents.
 */
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { useConcurrentScenarios } from './beside.ts';
import { openForwarder } from './forwarder.ts';
import { type RunOptions, type StartedMuster, useMuster } from './muster.ts';
import { useRunner } from './runner.ts';
import { itOnTerminal, openTerminal } from './terminal.ts';

const muster = useMuster({ demoAccount: 'ana@example.com' });
const runner = useRunner('{}');

interface Kept {
  readonly current: string | null;
  readonly profiles: Record<
    string,
    { token: string; oauth?: { refreshToken: string; expiresAt: string; revocationUrl: string } }
  >;
}

/** Reads the logins that are stored in a home folder. */
const profileStoreIn = (home: string) => {
  const file = path.join(home, 'muster/profiles.json');
  const env = { HOME: home, XDG_CONFIG_HOME: home };
  const readStoredProfiles = async (): Promise<Kept> => JSON.parse(await readFile(file, 'utf8')) as Kept;
  return {
    ...{ file, kept: readStoredProfiles },
    readStoredProfile: async (name = 'default') => (await readStoredProfiles()).profiles[name],
    run: (args: readonly string[], options: RunOptions = {}) => muster.run(args, { ...options, env }),
    login: (...args: string[]) => muster.start(['login', muster.url(), ...args], { env }),
  };
};
type ProfileStore = ReturnType<typeof profileStoreIn>;
const file = (): string => profileStoreIn(muster.home()).file;
const kept = () => profileStoreIn(muster.home()).kept();
const keptAs = (name?: string) => profileStoreIn(muster.home()).readStoredProfile(name);
/** Creates a separate home folder. */
const createOtherHome = async (): Promise<ProfileStore> =>
  profileStoreIn(await mkdtemp(path.join(muster.home(), 'home-')));

let people: People;
let cookie: string | undefined;
beforeAll(async () => {
  people = await muster.world.org();
  await muster.apiClient(people.ana).projects.create({ key: 'WEB', name: 'Web' });
  const answer = await send('/auth/demo', {});
  [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
});

/** Sends a form as sign-in's own pages do. */
const send = (at: string, form: Record<string, string>): Promise<Response> =>
  fetch(new URL(at, muster.url()), {
    ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(form) },
    headers: {
      origin: muster.url(),
      'sec-fetch-site': 'same-origin',
      ...(cookie !== undefined && { cookie }),
    },
  });

/** Returns the code that the command shows. */
async function codeOf(login: StartedMuster): Promise<string> {
  const [, code = ''] = await login.waitForOutput(/^Type +([B-Z]{4}-[B-Z]{4})$/m);
  return code;
}

const consentForm = { ...{ answer: 'connect', agent: 'new', in: 'all', scope: 'write', days: '90' } };

/** Signs in as an agent that the person creates for it. */
async function signIn(agentName: string, place = profileStoreIn(muster.home())): Promise<string> {
  const login = place.login();
  const form = { ...consentForm, org: people.orgId, agentName, user_code: await codeOf(login) };
  expect((await send('/oauth/device', form)).status).toBe(200);
  expect([await login.exitCode, login.outputText()]).toEqual([0, expect.stringContaining('Signed in to')]);
  return login.outputText();
}

/** Expires the tokens of the login that most tests use. */
const expireTokens = () =>
  muster.world.rows(`update tokens set expires_at = now() - interval '1 minute'
    where kind = 'oauth' and agent_id = (select id from agents where name = 'Terminal')`);
/** Counts the refresh tokens of the stored login. */
async function refreshTokens(): Promise<number> {
  const { oauth } = (await keptAs()) ?? {};
  const rows = await muster.world.rows(
    `select model from sign_in.oauth_records where model = 'RefreshToken' and grant_id =
      (select grant_id from sign_in.oauth_records where model = 'RefreshToken' and id_hash = sha256($1))`,
    Buffer.from(oauth?.refreshToken ?? ''),
  );
  return rows.length;
}
const runWhoami = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await muster.run(['whoami', '--json', ...args])).out) as unknown;

// Each of these tests waits five seconds for every response, which is the interval that the server sets. The
// tests use separate home folders and run in the background.
const concurrentScenarios = useConcurrentScenarios(4);

describe('muster login', () => {
  it('shows an address and a code, waits for the person, and keeps what it got for its owner alone', async () => {
    const shown = await signIn('Terminal');
    expect(shown).toContain(`Open   ${muster.url()}/oauth/device\n`);
    expect(shown).toMatch(/Signed in to Acme at \S+ as Ana, owner, as the agent Terminal\. Saved in /);
    const { token = '', oauth } = (await keptAs()) ?? {};
    expect(token).toMatch(/^must_live_/);
    expect(shown).not.toContain(token);
    expect(shown).not.toContain(oauth?.refreshToken);
    expect(((await stat(file())).mode & 0o777).toString(8)).toBe('600');
    expect(await runWhoami()).toMatchObject({
      agent: { name: 'Terminal' },
      token: { scopes: ['read', 'write'] },
    });
  });

  concurrentScenarios('says that the person refused, and keeps nothing', async () => {
    const place = await createOtherHome();
    await place.run(['login', muster.url(), '--token', '-'], { input: people.ben.me.token });
    const before = await readFile(place.file, 'utf8');
    const login = place.login('--profile', 'refused');
    await send('/oauth/device', { user_code: await codeOf(login), answer: 'refuse' });
    expect([await login.exitCode, login.outputText()]).toEqual([
      3,
      expect.stringContaining('muster: the request was denied in the browser\n'),
    ]);
    expect(await readFile(place.file, 'utf8')).toBe(before);
  });

  concurrentScenarios('says that the code is over', async () => {
    const login = (await createOtherHome()).login('--profile', 'late');
    const code = await codeOf(login);
    const ended = await muster.world.rows(
      `update sign_in.oauth_records set expires_at = now() - interval '1 second', payload = payload || '{"exp": 1}'::jsonb
        where model = 'DeviceCode' and user_code = $1 returning model`,
      code.replace('-', ''),
    );
    expect(ended).toHaveLength(1);
    expect([await login.exitCode, login.outputText()]).toEqual([
      3,
      expect.stringContaining('the code expired'),
    ]);
  });

  it('can be given up while it waits', async () => {
    const login = muster.start(['login', muster.url(), '--profile', 'given-up'], {});
    await codeOf(login);
    login.kill('SIGINT');
    expect(await login.exitCode).not.toBe(0);
    expect(await keptAs('given-up')).toBeUndefined();
  });

  it('says where people sign in to what it was told by another address', async () => {
    const elsewhere = muster.url().replace('127.0.0.1', 'localhost');
    expect(await muster.run(['login', elsewhere])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`muster login ${muster.url()}\n`),
    });
  });

  it('takes a token where one is given', async () => {
    const { code } = await muster.run(['login', muster.url(), '--token', '-', '--profile', 'given'], {
      input: people.ben.me.token,
    });
    expect(code).toBe(0);
    expect(await keptAs('given')).toEqual({ baseUrl: muster.url(), token: people.ben.me.token });
    await muster.run(['logout', '--profile', 'given']);
    await muster.run(['profiles', '--use', 'default']);
  });
});

describe('a login whose token has ended', () => {
  it('goes on, and commands that run at once get one token between them', async () => {
    const [before, count] = [await keptAs(), await refreshTokens()];
    await expireTokens();
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => muster.run(['whoami'])));
    expect(outcomes.map(({ code, err }) => ({ code, err }))).toEqual(
      outcomes.map(() => ({ code: 0, err: '' })),
    );
    const after = await keptAs();
    expect(after?.token).not.toBe(before?.token);
    expect(after?.oauth?.refreshToken).not.toBe(before?.oauth?.refreshToken);
    expect(await refreshTokens()).toBe(count + 1);
    expect(((await stat(file())).mode & 0o777).toString(8)).toBe('600');
  });

  it('gets the next one before the end', async () => {
    const { profiles, ...rest } = await kept();
    const { default: its } = profiles;
    if (its?.oauth === undefined) throw new Error('there is no login');
    const soon = new Date(Date.now() + 30_000).toISOString();
    const changed = { ...its, oauth: { ...its.oauth, expiresAt: soon } };
    await writeFile(file(), JSON.stringify({ ...rest, profiles: { ...profiles, default: changed } }));
    expect((await muster.run(['whoami'])).code).toBe(0);
    expect((await keptAs())?.token).not.toBe(its.token);
  });

  itOnTerminal('goes on in a view that was open', async () => {
    const terminal = openTerminal(['watch', '--interval', '1'], {
      ...{ HOME: muster.home(), XDG_CONFIG_HOME: muster.home() },
    });
    await terminal.waitForText(/Locks/);
    const before = await keptAs();
    await expireTokens();
    const { locks } = muster.apiClient(people.chloe);
    await locks.acquire({ projectId: 'WEB', resources: ['src/one/**'] });
    await terminal.waitForText(/src\/one/);
    await locks.acquire({ projectId: 'WEB', resources: ['src/two/**'] });
    await terminal.waitForText(/src\/two/);
    terminal.typeText('q');
    expect(await terminal.exitCode).toBe(0);
    expect((await keptAs())?.token).not.toBe(before?.token);
  });

  itOnTerminal('goes on in the stream of a view that has no call to make', async () => {
    const forwarder = await openForwarder(muster.url());
    const place = async (from: string, to: string): Promise<void> =>
      writeFile(
        file(),
        (await readFile(file(), 'utf8')).replace(`"baseUrl": "${from}"`, `"baseUrl": "${to}"`),
      );
    await place(muster.url(), forwarder.url);
    const terminal = openTerminal(['watch', '--interval', '3600'], {
      ...{ HOME: muster.home(), XDG_CONFIG_HOME: muster.home() },
    });
    await terminal.waitForText(/Locks/);
    await forwarder.answered('/api/events/stream');
    const before = await keptAs();
    await expireTokens();
    await muster.apiClient(people.chloe).locks.acquire({ projectId: 'WEB', resources: ['src/three/**'] });
    await Promise.race([waitUntil(async () => (await keptAs())?.token !== before?.token), terminal.exitCode]);
    terminal.typeText('q');
    expect(await terminal.exitCode).toBe(0);
    await forwarder.goOffline();
    await place(forwarder.url, muster.url());
  });

  it('goes on in a run, whose agent calls by the login too', async () => {
    const { story } = await muster
      .apiClient(people.ana)
      .stories.create({ projectId: 'WEB', title: 'Say good night', status: 'ready' });
    const clone = await runner.clone();
    const goOn = path.join(await runner.folder(), 'go-on');
    const script = `env > env.txt; until [ -e '${goOn}' ]; do sleep 0.1; done; echo good > answer.txt`;
    const working = runner.start(clone, [story.key, '--', 'sh', '-c', script], {
      XDG_CONFIG_HOME: muster.home(),
    });
    await working.waitForEvent('started');
    await expireTokens();
    await writeFile(goOn, '');
    expect([await working.ended, working.receivedEvents]).toEqual([0, expect.anything()]);
    const { branch = '' } = await working.waitForEvent('prepared');
    const env = await runner.git('show', `${branch}:env.txt`);
    expect(env).toMatch(/^MUSTER_PROFILE=default$/m);
    expect(env).not.toMatch(/^MUSTER_TOKEN=/m);
    const { execution } = await muster
      .apiClient(people.ana)
      .deliveryExecutions.getForTarget({ targetType: 'story', targetId: story.key });
    expect(execution).toMatchObject({ state: 'submitted' });
  });
});

describe('muster logout', () => {
  it('ends the login at the server: what another has of it is refused from the next call on', async () => {
    const copy = await readFile(file(), 'utf8');
    expect(await muster.run(['logout'])).toEqual({
      ...{ code: 0, err: '' },
      out: 'The login "default" was removed from this machine, and its connection was revoked.\n',
    });
    expect(await kept()).toEqual({ current: null, profiles: {} });
    await writeFile(file(), copy);
    expect(await muster.run(['whoami'])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/401[^]*Sign in with `muster login`/),
    });
    await muster.run(['logout']);
  });

  concurrentScenarios('forgets it too where the server cannot be reached, and says what stays', async () => {
    const place = await createOtherHome();
    await signIn('Away', place);
    await writeFile(
      place.file,
      (await readFile(place.file, 'utf8')).replace(/("revocationUrl": ")[^"]+/, '$1http://127.0.0.1:1/'),
    );
    expect(await place.run(['logout'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('its connection could not be revoked'),
    });
    expect((await place.kept()).profiles).toEqual({});
  });

  concurrentScenarios('is replaced by signing in again under the same name', async () => {
    const place = await createOtherHome();
    await signIn('First', place);
    const { token = '' } = (await place.readStoredProfile()) ?? {};
    await signIn('Second', place);
    const { code } = await place.run(['whoami', '--token', token]);
    expect(code).toBe(3);
    expect(JSON.parse((await place.run(['whoami', '--json'])).out)).toMatchObject({
      agent: { name: 'Second' },
    });
  });
});
