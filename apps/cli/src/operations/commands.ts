/** Every operation of the registry as a command: `stories.updateStatus` is `muster stories update-status`. */
import {
  positionalPlaceholder,
  commandWords,
  type Flag,
  flagsOf,
  namespaceGroups,
  positionalsOf,
} from '@muster/reference';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { type Command } from 'commander';
import { addConnectionFlags } from '../session/connection.ts';
import { fillOnFirstUse } from '../opening.ts';
import { helpAfterFlags } from './help.ts';
import { runOperation } from './run.ts';
import { shortcuts } from './shortcuts.ts';
import { addFlags } from './typed.ts';

export const isListOperation = ({ params, result }: Operation): boolean =>
  'nextCursor' in result.shape && 'cursor' in params.shape;

/** Adds the flags that every operation has in addition to its parameters. */
function addCallFlags(command: Command, operation: Operation): void {
  command
    .optionsGroup('Call options:')
    .option('--params <json>', 'all parameters as JSON, @file or - (stdin); flags override them')
    .option('--json', 'print the result as JSON, for scripts');
  if (isListOperation(operation)) command.option('--all', 'return all pages instead of one');
  if (operation.effect === 'write')
    command.option(
      '--idempotency-key <key>',
      'a call repeated with the same key and parameters returns the first result again',
    );
  addConnectionFlags(command);
}

/** Reads the schema of parameters only when the command is used, not for all operations. */
function fillOperationCommand(command: Command, operation: Operation): void {
  const flags: readonly Flag[] = flagsOf(operation);
  addFlags(command, flags);
  shortcuts.get(operation.name)?.addFlagsTo(command);
  addCallFlags(command, operation);
  const positionals = positionalsOf(flags);
  for (const flag of positionals) command.argument(positionalPlaceholder(flag), `the same as --${flag.name}`);
  command
    .argument(
      '[params...]',
      positionals.length === 0 ? 'the same as --params' : 'instead of these, the same as --params',
    )
    .addHelpText('after', () => helpAfterFlags(operation, command.configureOutput().getOutHelpWidth?.()))
    .action((...all: unknown[]) =>
      runOperation({
        operation,
        flags,
        command: all.at(-1) as Command,
        positionalWords: (all.at(-1) as Command).args,
      }),
    );
}

function findOrAddGroup(program: Command, words: readonly string[]): Command {
  return words.reduce<Command>((parent, word) => {
    const known = parent.commands.find((command) => command.name() === word);
    return known ?? parent.command(word);
  }, program);
}

/**
 * Gives each group of commands a description. The description of a group that contains only groups lists
 * their names.
 */
function describeGroups(
  command: Command,
  groupDescriptions: ReadonlyMap<string, string>,
  parentWords: readonly string[] = [],
): void {
  if (command.commands.length === 0) return;
  const words = [...parentWords, command.name()];
  for (const inner of command.commands) describeGroups(inner, groupDescriptions, words);
  if (command.description() === '') {
    const names = command.commands.map((inner) => inner.name()).join(', ');
    command.description(groupDescriptions.get(words.join(' ')) ?? names);
  }
}

/** Adds all operations to the program, below their namespaces. */
export function addOperations(program: Command): void {
  program.commandsGroup('Operations, by namespace:');
  for (const operation of operations.values()) {
    const words = commandWords(operation.name);
    const group = findOrAddGroup(program, words.slice(0, -1));
    const command = group
      .command(words.at(-1) ?? '')
      .summary(operation.summary)
      .description(`${operation.summary}. ${operation.description}`);
    fillOnFirstUse(command, () => fillOperationCommand(command, operation));
  }
  const sentences = new Map(
    namespaceGroups.flatMap(({ namespaces }) =>
      Object.entries(namespaces).map(([name, sentence]) => [commandWords(name).join(' '), sentence] as const),
    ),
  );
  for (const group of program.commands) describeGroups(group, sentences);
}

/**
 * Adds `muster call stories.create …` for users who know the name of an operation. It is the same as `muster
 * stories create …`.
 */
export function addCallCommand(program: Command): void {
  program
    .command('call')
    .summary('Call an operation by its name in the contract')
    .description(
      `Calls an operation by its name: \`muster call stories.get --story-id WEB-1\` is the same as \`muster stories get --story-id WEB-1\`. \`muster call stories.get '{"storyId": "WEB-1"}'\` takes its parameters as JSON.`,
    )
    .argument('<operation>', 'such as stories.create')
    .argument('[rest...]', 'its parameters as JSON, or as flags')
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (name: string, rest: string[]) => {
      await program.parseAsync([...commandWords(name), ...rest], { from: 'user' });
    });
}
