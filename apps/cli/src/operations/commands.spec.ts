import { beforeAll, describe, expect, it } from '@jest/globals';
import { commandWords, exampleWords, flagName, flagsOf, shellQuote, toCommandWords } from '@muster/reference';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { Command, CommanderError } from 'commander';
import { loadAllSubcommands } from '../opening.ts';
import { createProgram } from '../program.ts';
import { addFlags, collectTypedParams, parsePositionalParams } from './typed.ts';

const operation = (name: string): Operation => {
  const found = operations.get(name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
};

/** Parses a command line without making a call. */
function parse(of: Operation, words: readonly string[]): Record<string, unknown> {
  const flags = flagsOf(of);
  const command = new Command('trial').exitOverride().configureOutput({ writeErr: () => undefined });
  addFlags(command.argument('[params...]'), flags);
  command.parse([...words], { from: 'user' });
  return { ...collectTypedParams(command, flags), ...parsePositionalParams(command, flags, command.args) };
}

describe('every operation', () => {
  let program: Command;
  beforeAll(async () => {
    program = createProgram();
    await loadAllSubcommands(program);
  });

  const commandOf = (of: Operation): Command | undefined =>
    commandWords(of.name).reduce<Command | undefined>(
      (command, word) => command?.commands.find((inner) => inner.name() === word),
      program,
    );

  it('is a command whose flags say what its example says', async () => {
    await checkEachCase(operations, (each) => {
      const [, ...words] = exampleWords(each);
      const name = commandWords(each.name);
      expect(words.slice(0, name.length)).toEqual(name);
      expect(parse(each, words.slice(name.length))).toEqual(each.example);
      expect(parse(each, toCommandWords(flagsOf(each), each.example))).toEqual(each.example);
      expect(commandOf(each)).toBeInstanceOf(Command);
    });
  });

  it('has flags that none of its others hides', async () => {
    await checkEachCase(operations, (each) => {
      const names = commandOf(each)?.options.map(({ long }) => long) ?? [];
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
    });
  });

  it('says in its help what the contract says', async () => {
    await checkEachCase(operations, (each) => {
      let help = '';
      const command = commandOf(each);
      command?.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 10_000 });
      command?.outputHelp();
      expect(help).toContain(each.summary);
      expect(help).toContain(each.description);
      for (const reason of each.refusals) expect(help).toContain(`\n  ${reason} `);
      for (const { name } of flagsOf(each))
        expect(help).toMatch(new RegExp(`\\n {2}--${name.replaceAll('.', '\\.')}[ \\n]`));
      expect(help).toContain(exampleWords(each).map(shellQuote).join(' '));
    });
  });
});

describe('the help of every command', () => {
  /** Lists the visible commands, the program itself first. */
  function* visible(command: Command, words: readonly string[] = []): Generator<[string, Command]> {
    yield [[...words, command.name()].join(' '), command];
    for (const inner of command.createHelp().visibleCommands(command))
      // Commander's own `help` does not describe its argument.
      if (inner.name() !== 'help') yield* visible(inner, [...words, command.name()]);
  }
  const commands = async (): Promise<[string, Command][]> => {
    const program = createProgram();
    await loadAllSubcommands(program);
    return [...visible(program)];
  };

  it('says of each option and each argument what it means, not only its limits', async () => {
    const limits = /^(at (most|least) \d+|\d+ to \d+)( \w+)?$/i;
    const says = (words: string) => words !== '' && !limits.test(words.split(';')[0] ?? '');
    const silent = (await commands()).flatMap(([path, command]) => [
      ...command.options
        .filter(({ hidden, description }) => !hidden && !says(description))
        .map(({ flags }) => `${path} ${flags}`),
      ...command.registeredArguments
        .filter(({ description }) => !says(description))
        .map((argument) => `${path} ${argument.name()}`),
    ]);
    expect(silent).toEqual([]);
  });

  it('fits 80 columns, but for a value of an example that is longer by itself', async () => {
    const long = (await commands()).flatMap(([path, command]) => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 });
      command.outputHelp();
      return help
        .split('\n')
        .filter((line) => line.length > 80 && !/^ {2}(--\S+ '|\S+$)/.test(line))
        .map((line) => `${path}: ${line}`);
    });
    expect(long).toEqual([]);
  });
});

describe('flags', () => {
  it('take numbers, switches, choices and lists', () => {
    expect(
      parse(operation('locks.acquire'), [
        ...['--project-id', 'WEB', '--resources', 'src/**', '--resources=name:db', '--mode', 'shared'],
        ...['--ttl-seconds', '60', '--dry-run'],
      ]),
    ).toEqual({
      projectId: 'WEB',
      resources: ['src/**', 'name:db'],
      mode: 'shared',
      ttlSeconds: 60,
      dryRun: true,
    });
  });

  it('clear, empty and switch off with --no-', () => {
    expect(
      parse(operation('stories.update'), [
        '--story-id',
        'WEB-1',
        '--no-epic-id',
        '--no-labels',
        '--no-blocked',
      ]),
    ).toEqual({ storyId: 'WEB-1', epicId: null, labels: null, blocked: null });
    expect(parse(operation('prompts.org.upsert'), ['--no-tags'])).toEqual({ tags: [] });
    expect(parse(operation('projects.update'), ['--no-archived'])).toEqual({ archived: false });
  });

  it('know of a switch that may also be cleared', () => {
    const of = operation('policy.update');
    const words = (...given: string[]) => parse(of, given);
    expect(words('--require-merge-proof')).toEqual({ requireMergeProof: true });
    expect(words('--no-require-merge-proof')).toEqual({ requireMergeProof: false });
    expect(words('--require-merge-proof', 'null')).toEqual({ requireMergeProof: null });
    expect(words('--no-max-lock-ttl-seconds')).toEqual({ maxLockTtlSeconds: null });
  });

  it('reach into objects, field by field or as JSON, the field over the JSON', () => {
    expect(
      parse(operation('stories.updateGitMeta'), [
        ...['--git', '{"branch": "a", "checks": "passing"}', '--git.branch', 'b', '--no-git.head-sha'],
        ...['--git.pull-request.number', '7'],
      ]),
    ).toEqual({ git: { branch: 'b', checks: 'passing', headSha: null, pullRequest: { number: 7 } } });
  });

  it('take a list of objects one by one or at once', () => {
    const columns = [
      { name: 'Backlog', status: 'backlog' },
      { name: 'Done', status: 'done' },
    ];
    const of = operation('projects.create');
    const [first, second] = columns.map((column) => JSON.stringify(column));
    expect(parse(of, ['--columns', first ?? '', '--columns', second ?? ''])).toEqual({ columns });
    expect(parse(of, ['--columns', JSON.stringify(columns)])).toEqual({ columns });
  });

  it('read long texts from files, and short ones as they stand', () => {
    const of = operation('storySpec.update');
    expect(String(parse(of, ['--content', `@${import.meta.filename}`])['content'])).toContain(
      'read long texts',
    );
    expect(parse(of, ['--content', '@@ana said'])).toEqual({ content: '@ana said' });
    expect(parse(operation('stories.create'), ['--title', '@ana'])).toEqual({ title: '@ana' });
    expect(toCommandWords(flagsOf(of), { content: '@ana' })).toEqual(['--content', '@@ana']);
  });

  it.each([
    ['stories.create', ['--estimate', 'much'], /must be a number/],
    ['stories.create', ['--status', 'nowhere'], /must be one of backlog, ready/],
    ['stories.list', ['--limit', '1.5'], /must be a whole number/],
    ['stories.updateGitMeta', ['--git', '{'], /must be JSON/],
    ['stories.create', ['--spec', '@no/such/file'], /The file "no\/such\/file" does not exist/],
    ['policy.update', ['--require-merge-proof', 'maybe'], /must be true, false or null/],
    ['stories.create', ['--titel', 'x'], /unknown option '--titel'[^]*--title/],
  ])('of %s refuse %p', (name, words, message) => {
    const refused = expect(() => parse(operation(name), words));
    refused.toThrow(message);
    refused.toThrow(CommanderError);
  });

  it('are what issues are told by', () => {
    const flags = flagsOf(operation('stories.updateGitMeta'));
    expect(flagName(flags, 'git.headSha')).toBe('--git.head-sha');
    expect(flagName(flags, 'git.nowhere')).toBe('git.nowhere');
  });
});

it('writes words so that a shell reads them as they are', () => {
  expect(shellQuote('plain-word')).toBe('plain-word');
  expect(shellQuote("it's $HOME")).toBe(`'it'\\''s $HOME'`);
  expect(shellQuote('')).toBe(`''`);
});
