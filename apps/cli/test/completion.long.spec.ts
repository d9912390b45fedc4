import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { runMuster } from './muster.ts';

const run = promisify(execFile);
const shells = ['bash', 'zsh', 'fish'] as const;

let folder: string;
const scripts = new Map<string, string>();
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-completion-'));
  for (const shell of shells) {
    const { out } = await runMuster(['completion', shell], {});
    scripts.set(shell, out);
    await writeFile(path.join(folder, shell), out);
  }
});
afterAll(() => rm(folder, { recursive: true }));

/** The typed words, and the candidates that completion offers for the last word. */
const cases: [typed: string[], offered: string[]][] = [
  [['sto'], ['stories', 'story-spec', 'story-collaboration']],
  [
    ['stories', 'update'],
    ['update', 'update-status', 'update-git-meta', 'update-upstream', 'update-many'],
  ],
  [['stories', 'create', '--est'], ['--estimate']],
  // A word that is the value of a flag is not taken for a command, even if a command has the same name.
  [['--profile', 'stories', 'stories', 'create', '--title', 'list', '--pri'], ['--priority']],
  [['stories', 'create', '--priority', 'u'], ['urgent']],
  [['stories', 'update-git-meta', '--git.ch'], ['--git.checks']],
  [
    ['call', 'stories.re'],
    ['stories.reorder', 'stories.restore'],
  ],
  [['call', 'stories.reorder', '--be'], ['--before-story-id']],
  [
    ['admin', 'platform', ''],
    ['accounts', 'orgs', 'teams', 'subscriptions', 'metrics', 'grant', 'help'],
  ],
  [['admin', 'org', 'create', '--plan', 'f'], ['free']],
  [
    ['import', 'jira', 'x', '--dates', ''],
    ['mdy', 'dmy'],
  ],
  [['org'], ['orgs']],
];

describe('in bash', () => {
  it.each(cases)('muster %j is completed', async (typed, offered) => {
    const script = `source ${path.join(folder, 'bash')}
      COMP_WORDS=(muster "$@"); COMP_CWORD=$#; _muster; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['--norc', '-c', script, 'bash', ...typed]);
    expect(stdout.trimEnd().split('\n')).toEqual(offered);
  });
});

const programOf = (shell: string): string | undefined =>
  ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((where) => path.join(where, shell))
    .find(existsSync);

describe('in fish', () => {
  const fish = programOf('fish');
  (fish === undefined ? it.skip : it).each(cases)('muster %j is completed', async (typed, offered) => {
    const line = ['muster', ...typed].join(' ');
    const script = `source ${path.join(folder, 'fish')}; complete -C ${JSON.stringify(line)}`;
    const { stdout } = await run(fish ?? '', ['--no-config', '-c', script]);
    const words = stdout
      .trimEnd()
      .split('\n')
      .map((found) => found.split('\t')[0]);
    expect(words.toSorted()).toEqual(offered.toSorted());
  });
});

describe('in zsh', () => {
  const zsh = programOf('zsh');
  (zsh === undefined ? it.skip : it).each(cases)('muster %j is completed', async (typed, offered) => {
    // The script replaces zsh's completion functions with functions that print the candidates to standard
    // output.
    const script = `compdef() { : }; source ${path.join(folder, 'zsh')}
      _describe() { print -l -- \${(P)\${@[-1]}} }; compadd() { print -l -- \${(P)\${@[-1]}} }; _files() { : }
      words=(muster "$@"); CURRENT=$#words; PREFIX=$words[-1]; _muster`;
    const { stdout } = await run(zsh ?? '', ['-f', '-c', script, 'zsh', ...typed]);
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/:.*$/, ''));
    expect(found.filter((word) => word.startsWith(typed.at(-1) ?? ''))).toEqual(offered);
  });
});

describe.each(shells)('the script for %s', (shell) => {
  it('closes every quote and every block that it opens', () => {
    const script = scripts.get(shell) ?? '';
    const escaped = shell === 'fish' ? /\\[\\']/g : /'\\''/g;
    expect((script.replaceAll(escaped, '').match(/'/g) ?? []).length % 2).toBe(0);
    const bare = script.replaceAll(escaped, '').replaceAll(/'[^']*'/g, "''");
    const count = (word: RegExp): number => (bare.match(word) ?? []).length;
    if (shell === 'fish') {
      expect(count(/^\s*(function|switch|if|for) /gm)).toBe(count(/^\s*end$/gm));
      return;
    }
    expect(count(/\bcase "\$1" in/g)).toBe(count(/\besac\b/g));
    expect(count(/(?:^\s*|; )if /gm)).toBe(count(/\bfi\b/g));
  });

  it('knows commands, flags and choices', () => {
    const script = scripts.get(shell) ?? '';
    for (const word of [
      'update-status',
      '--git.pull-request.number=',
      'in_progress',
      'stories.updateStatus',
    ]) {
      expect(script).toContain(word);
    }
  });
});

/**
 * Patterns that parse a completion script: `place` matches the line of an argument position, and `word` matches
 * the candidates in that line.
 */
const scriptPatternsByShell = {
  bash: { place: /^    ('(?:[^']|'\\'')*')\) printf '%s ' (.*) ;;$/, word: /'((?:[^']|'\\'')*)'/g },
  zsh: {
    place: /^    ('(?:[^']|'\\'')*')\) reply=\((.*)\) ;;$/,
    word: /'((?:[^':\\]|\\:)*)(?:[^']|'\\'')*'/g,
  },
  fish: {
    place: /^    case ('.*')\n      printf '%s\\t%s\\n' (.*)$/,
    word: /'((?:[^'\\]|\\.)*)' '(?:[^'\\]|\\.)*'/g,
  },
};
function listCandidatesIn(shell: (typeof shells)[number]): string[] {
  const { place, word } = scriptPatternsByShell[shell];
  const everyPlace = new RegExp(place.source, 'gm');
  return [...(scripts.get(shell) ?? '').matchAll(everyPlace)].map(([, at = '', words = '']) => {
    const offered = [...words.matchAll(word)].map(([, one = '']) => one.replaceAll('\\:', ':'));
    return `${at} ${offered.join(' ')}`;
  });
}

it('offers the same words at the same places in every shell', () => {
  const inBash = listCandidatesIn('bash');
  expect(inBash.length).toBeGreaterThan(operations.size);
  expect(inBash.join()).toContain(`'choices stories create --priority' none low medium high urgent`);
  for (const shell of ['zsh', 'fish'] as const) expect(listCandidatesIn(shell)).toEqual(inBash);
});

it('knows of no other shell', async () => {
  expect(await runMuster(['completion', 'csh'], {})).toMatchObject({
    code: 2,
    err: expect.stringContaining('bash, zsh, fish'),
  });
});
