import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';
import { itOnTerminal, openTerminal } from './terminal.ts';

const muster = useMuster();

let people: People;
beforeAll(async () => {
  people = await muster.world.org();
});

const file = (home: string) => path.join(home, 'muster/profiles.json');

describe('muster login', () => {
  it('keeps a token that works for its owner alone, and the commands that follow use it', async () => {
    const login = await muster.run(['login', '--base-url', muster.url(), '--token', '-'], {
      input: `${people.ana.me.token}\n`,
    });
    expect(login).toMatchObject({ code: 0, err: '', out: expect.stringContaining('as Ana, owner') });
    expect(login.out).not.toContain(people.ana.me.token);
    const { mode } = await stat(file(muster.home()));
    expect((mode & 0o777).toString(8)).toBe('600');
    const whoami = await muster.run(['whoami']);
    expect(whoami.out).toMatch(/^member +Ana <ana@example\.com>, @ana, owner$/m);
    expect(whoami.out).toMatch(/^from +the login "default"$/m);
  });

  it('keeps several side by side; the last one counts, and another is named', async () => {
    const login = await muster.run(
      ['login', '--base-url', muster.url(), '--token', '-', '--profile', 'robo'],
      { input: people.robo.me.token },
    );
    expect(login.out).toContain('"robo" is the current login now, instead of "default".');
    const identity = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await muster.run(['whoami', '--json', ...args])).out) as unknown;
    expect(await identity()).toMatchObject({ token: { agentId: people.robo.me.agentId } });
    expect(await identity('--profile', 'default')).toMatchObject({ member: { name: 'Ana' } });
    const listed = JSON.parse((await muster.run(['profiles', '--json'])).out) as unknown;
    expect(listed).toEqual({
      items: [
        expect.objectContaining({ name: 'default', current: false }),
        expect.objectContaining({ name: 'robo', current: true }),
      ],
    });
    await muster.run(['profiles', '--use', 'default']);
    expect(await identity()).toMatchObject({ member: { name: 'Ana' } });
    expect(await muster.run(['whoami', '--profile', 'nobody'])).toMatchObject({
      code: 2,
      err: 'muster: there is no login "nobody"; create it with muster login --profile nobody\n',
    });
  });

  it('does not keep a token that does not work', async () => {
    const before = await readFile(file(muster.home()), 'utf8');
    const refused = await muster.run(['login', '--base-url', muster.url(), '--token', '-'], {
      input: 'must_live_nonsense',
    });
    expect(refused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('401') });
    expect(await readFile(file(muster.home()), 'utf8')).toBe(before);
  });

  it('says that an address has no API of Muster', async () => {
    // Another service answers at the address. It reports unknown paths in the same format as all services of
    // Muster.
    const details = { reason: 'no_such_path', retryable: false };
    const error = { code: 'not_found', message: 'No POST route exists at this path.', status: 404, details };
    const other = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...error, requestId: 'one' }));
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const baseUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const refused = await muster.run(['login', '--base-url', baseUrl, '--token', '-'], {
      input: people.ana.me.token,
    });
    other.close();
    expect(refused).toMatchObject({
      ...{ code: 2, out: '' },
      err: `muster: there is no Muster API at ${baseUrl}; check the address\n`,
    });
  });

  itOnTerminal('asks for the address and the token, and does not show what is typed', async () => {
    const terminal = openTerminal(['login', '--profile', 'asked'], {
      HOME: muster.home(),
      XDG_CONFIG_HOME: muster.home(),
    });
    await terminal.waitForText(/Address of the API/);
    terminal.typeText(`${muster.url()}\r`);
    await terminal.waitForText(/Token:/);
    terminal.typeText(`${people.chloe.me.token}\r`);
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screenText()).toContain('as Chloé, member');
    expect(terminal.screenText()).not.toContain(people.chloe.me.token.slice(0, 20));
    await muster.run(['profiles', '--use', 'default']);
  });

  it('asks nobody where nobody can be asked', async () => {
    expect(await muster.run(['login', '--base-url', muster.url()])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--token -'),
    });
  });
});

describe('where a call goes', () => {
  it('is said by flags before the environment, and by that before the login', async () => {
    const env = muster.environmentOf(people.ben);
    const name = async (args: string[], options = {}): Promise<unknown> => {
      const { out } = await muster.run(['session', 'identity', '--json', ...args], options);
      return (JSON.parse(out) as { member: { name: string } }).member.name;
    };
    expect(await name([])).toBe('Ana');
    expect(await name([], { env })).toBe('Ben');
    expect(await name(['--token', people.dan.me.token], { env })).toBe('Dan');
    expect(await name(['--profile', 'default'], { env })).toBe('Ana');
  });

  it('never gets the token that was kept for another address', async () => {
    const other = await muster.run(['session', 'identity', '--base-url', 'http://127.0.0.1:1']);
    expect(other).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^muster: the saved token is for http/),
    });
  });
});

it('forgets a login, and says that the token lives on', async () => {
  const out = await muster.run(['logout', '--profile', 'robo']);
  expect(out).toMatchObject({
    code: 0,
    out: expect.stringContaining('"robo" was removed from this machine; its token still works'),
  });
  await muster.run(['logout', '--all']);
  expect(await muster.run(['logout'])).toMatchObject({
    code: 2,
    err: 'muster: there is no login on this machine\n',
  });
  expect(await muster.run(['whoami'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('muster login'),
  });
});

it('says what to do about a damaged file', async () => {
  await writeFile(file(muster.home()), '{');
  expect(await muster.run(['whoami'])).toMatchObject({ code: 2, err: expect.stringContaining('is damaged') });
});

it('says that a login cannot be kept', async () => {
  const blocked = path.join(muster.home(), 'blocked');
  await writeFile(blocked, '');
  const login = await muster.run(['login', '--base-url', muster.url(), '--token', '-'], {
    ...{ input: people.ana.me.token, env: { XDG_CONFIG_HOME: blocked } },
  });
  expect(login).toEqual({
    ...{
      code: 2,
      out: '',
      err: expect.stringMatching(/^muster: .*profiles\.json cannot be written: ENOTDIR/),
    },
  });
});
