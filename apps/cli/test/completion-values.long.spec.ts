/** Tests completion of values from a real API, through real shells. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type People, programEnvironment } from '@muster/testing';
import { openForwarder } from './forwarder.ts';
import { mainFile, runMuster, useMuster } from './muster.ts';
import { itOnTerminal, openTerminalOf } from './terminal.ts';

const run = promisify(execFile);
const muster = useMuster();

const wicked = 'Print $(touch wicked) `touch wicked` "; touch wicked; "';

let people: People;
let folder: string;
let epicId: string;
/** The environment with `muster` on the path and the scripts that the shells source. */
let environment: Record<string, string>;
beforeAll(async () => {
  people = await muster.world.org();
  const chloe = muster.apiClient(people.chloe);
  await chloe.projects.create({ key: 'WEB', name: 'The shop' });
  await chloe.projects.create({ key: 'APP', name: 'The app' });
  for (const title of ['Sign in', wicked]) await chloe.stories.create({ projectId: 'WEB', title });
  await chloe.stories.create({ projectId: 'APP', title: 'Sign out' });
  epicId = (await chloe.epics.create({ projectId: 'WEB', title: 'Checkout' })).epic.id;
  await chloe.epics.create({ projectId: 'APP', title: 'Offline' });

  folder = await mkdtemp(path.join(tmpdir(), 'muster-completion-values-'));
  const program = path.join(folder, 'muster');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  await chmod(program, 0o755);
  for (const shell of ['bash', 'zsh', 'fish'])
    await writeFile(path.join(folder, shell), (await runMuster(['completion', shell], {})).out);
  const { PATH = '', ...rest } = programEnvironment();
  environment = {
    ...rest,
    ...{
      HOME: folder,
      XDG_CONFIG_HOME: path.join(folder, 'config'),
      XDG_CACHE_HOME: path.join(folder, 'cache'),
    },
    ...{ PATH: `${folder}:${PATH}`, LC_ALL: 'C.UTF-8' },
    ...muster.environmentOf(people.dan),
  };
});
afterAll(() => rm(folder, { recursive: true }));

const cache = (): string => path.join(folder, 'cache/muster/completion');
const clearCache = () => rm(cache(), { recursive: true, force: true });
afterEach(clearCache);

const truncatedTitle = 'Print $(touch wicked) `touch wicked` "; touch wic…';

/** The typed words, and the values that completion offers for the last word, with their descriptions. */
const cases: [typed: string[], offered: [value: string, meaning: string][]][] = [
  [
    ['stories', 'get', 'WEB-'],
    [
      ['WEB-1', 'Sign in'],
      ['WEB-2', truncatedTitle],
    ],
  ],
  [['stories', 'get', 'WEB-1'], [['WEB-1', 'Sign in']]],
  [['call', 'stories.get', 'AP'], [['APP-1', 'Sign out']]],
  [['work', 'APP-'], [['APP-1', 'Sign out']]],
  [
    ['stories', 'list', ''],
    [
      ['APP', 'The app'],
      ['WEB', 'The shop'],
    ],
  ],
  [['watch', '--project', 'W'], [['WEB', 'The shop']]],
  [['stories', 'list', '--project-id=W'], [['WEB', 'The shop']]],
  [['stories', 'update', 'WEB-1', '--epic-id', ''], [['EPIC', 'Checkout']]],
  [['stories', 'create', '--project=WEB', 'Pay', '--epic-id', ''], [['EPIC', 'Checkout']]],
  [['stories', 'create', 'WEB', '--priority=u'], [['urgent', '']]],
  [['stories', 'update-status', 'WEB-1', 'in_p'], [['in_progress', '']]],
  [['completion', 'f'], [['fish', '']]],
];

/** Replaces a placeholder by the id that only the API knows. */
const valueOf = (value: string): string => (value === 'EPIC' ? epicId : value);

async function inBash(typed: readonly string[]): Promise<string[]> {
  // Bash splits the command line at `=` as well.
  const words = typed.flatMap((word) => word.split(/(=)/));
  const script = `source ${path.join(folder, 'bash')}
    COMP_WORDS=(muster "$@"); COMP_CWORD=$#; _muster; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['--norc', '-c', script, 'bash', ...words], {
    ...{ env: environment, cwd: folder },
  });
  return stdout.trimEnd().split('\n');
}

it.each(cases)('in bash muster %j is completed from the API', async (typed, offered) => {
  const found = (await inBash(typed)).toSorted();
  const isOne = offered.length === 1;
  expect(found).toEqual(offered.map(([value, meaning]) => (isOne ? valueOf(value) : `${value}  ${meaning}`)));
  expect(existsSync(path.join(folder, 'wicked'))).toBe(false);
});

const programOf = (shell: string): string | undefined =>
  ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((where) => path.join(where, shell))
    .find(existsSync);

const fish = programOf('fish');
(fish === undefined ? it.skip : it).each(cases)(
  'in fish muster %j is completed from the API',
  async (typed, offered) => {
    const script = `source ${path.join(folder, 'fish')}; complete -C "$LINE"`;
    const { stdout } = await run(fish ?? '', ['--no-config', '-c', script], {
      env: { ...environment, LINE: ['muster', ...typed].join(' ') },
      cwd: folder,
    });
    const flag = /^--[a-z-]+=/.exec(typed.at(-1) ?? '')?.[0] ?? '';
    const expected = offered.map(([value, meaning]) => `${flag}${valueOf(value)}\t${meaning}`.trimEnd());
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd())
        .toSorted(),
    ).toEqual(expected);
    expect(existsSync(path.join(folder, 'wicked'))).toBe(false);
  },
);

describe('at a terminal', () => {
  const zsh = programOf('zsh');
  const rows: [shell: string, command: string[], prepare: string][] = [
    [
      'bash',
      ['bash', '--norc', '--noprofile', '-i'],
      `bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; source $HOME/bash`,
    ],
    ...(zsh === undefined
      ? []
      : [
          [
            'zsh',
            [zsh, '-f', '-i'],
            'unsetopt beep; autoload -U compinit; compinit -u -D; source $HOME/zsh',
          ] satisfies [string, string[], string],
        ]),
  ];
  const begun = async (command: readonly string[], prepare: string) => {
    const terminal = openTerminalOf(command, { ...environment, TERM: 'xterm' });
    terminal.typeText(`cd; ${prepare}; echo re''ady\n`);
    await terminal.waitForText(/^ready/m);
    return terminal;
  };

  for (const [shell, command, prepare] of rows) {
    itOnTerminal(`${shell} shows stories with their titles, and types what is the only one`, async () => {
      const terminal = await begun(command, prepare);
      terminal.typeText('muster stories get WEB-\t');
      await terminal.waitForText(/WEB-1 .*Sign in/);
      await terminal.waitForText(/WEB-2 .*Print \$\(touch wicked\)/);
      terminal.typeText('\u0015muster stories get AP\t');
      await terminal.waitForText(/stories get AP.*P-1/s);
      // The title of an epic completes to its id.
      terminal.typeText('\u0015muster stories update WEB-1 --epic-id heck\t');
      await terminal.waitForText(new RegExp(epicId));
      terminal.typeText('\u0015exit\n');
      await terminal.exitCode;
      expect(existsSync(path.join(folder, 'wicked'))).toBe(false);
    });
  }
});

const values = (env: Record<string, string>, ...words: string[]) =>
  runMuster(['completion', 'values', '--', ...words], { env: { ...environment, ...env } });

describe('what is asked', () => {
  it('is what the caller may see', async () => {
    const { out } = await values(muster.environmentOf(people.chloe), 'member', '', 'stories', 'list');
    expect(out).toContain(`${people.dan.me.memberId}\tDan\n`);
    expect(await values({ MUSTER_TOKEN: 'must_live_nonsense' }, 'project', '')).toEqual({
      ...{ code: 0, out: '', err: '' },
    });
  });

  it('is asked once for a line, kept for its owner alone, and stands in while the API is away', async () => {
    const forwarder = await openForwarder(muster.url());
    const env = { MUSTER_BASE_URL: forwarder.url };
    const expected = { code: 0, out: 'APP\tThe app\nWEB\tThe shop\n', err: '' };
    for (let time = 0; time < 3; time += 1) expect(await values(env, 'project', '')).toEqual(expected);
    expect(forwarder.asked('/api/projects/list')).toBe(1);
    await forwarder.goOffline();
    expect(await values(env, 'project', 'W')).toMatchObject({ out: 'WEB\tThe shop\n' });
    // The cache of the previous token is not used for another token.
    expect(await values({ ...env, MUSTER_TOKEN: people.chloe.me.token }, 'project', '')).toEqual({
      ...{ code: 0, out: '', err: '' },
    });
    const [file = ''] = await readdir(cache());
    expect(((await stat(path.join(cache(), file))).mode & 0o777).toString(8)).toBe('600');
    expect(((await stat(cache())).mode & 0o777).toString(8)).toBe('700');
  });

  it('is forgotten with a login', async () => {
    const login = ['login', muster.url(), '--token', '-'];
    const home = {
      HOME: folder,
      XDG_CONFIG_HOME: path.join(folder, 'config'),
      XDG_CACHE_HOME: path.join(folder, 'cache'),
    };
    await runMuster(login, { env: home, input: people.dan.me.token });
    expect((await runMuster(['completion', 'values', '--', 'project', ''], { env: home })).out).toContain(
      'WEB',
    );
    expect((await runMuster(['completion', 'values', '--', 'profile', ''], { env: home })).out).toBe(
      `default\t${muster.url()}\n`,
    );
    expect(existsSync(cache())).toBe(true);
    await runMuster(['logout'], { env: home });
    expect(existsSync(cache())).toBe(false);
  });

  it('is nothing where the API does not answer, or does not end to, and nothing is said', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    expect(await values({ MUSTER_BASE_URL: url }, 'story', 'WEB-')).toEqual({ code: 0, out: '', err: '' });
    const closed = once(silent, 'close');
    silent.close();
    silent.closeAllConnections();
    await closed;
    expect(await values({ MUSTER_BASE_URL: url }, 'story', 'WEB-')).toEqual({ code: 0, out: '', err: '' });
    expect(await values({ MUSTER_BASE_URL: '', MUSTER_TOKEN: '' }, 'story', '')).toEqual({
      ...{ code: 0, out: '', err: '' },
    });
  });

  it('is offered where nothing can be kept', async () => {
    const file = path.join(folder, 'no-folder');
    await writeFile(file, '');
    const { out } = await values({ XDG_CACHE_HOME: file }, 'project', 'W');
    expect(out).toBe('WEB\tThe shop\n');
  });
});
