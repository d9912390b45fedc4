/** The command tree for completion: the candidates after each word. */
import { operations } from '@muster/registry';
import { sanitizeToOneLine } from '@muster/terminal';
import { type Argument, type Command, type Option } from 'commander';
import { commandWords } from '@muster/reference';
import { type CompletableKind, completableKindOf } from './things.ts';

export interface CompletionCandidate {
  readonly name: string;
  readonly meaning: string;
}

/** A value that a flag or an argument takes: the possible values, or the kind of record that it names. */
export interface CompletableArgument {
  readonly choices: readonly string[];
  /** The kind of record that the value names. Completion fetches the ids from the API. */
  readonly recordKind: CompletableKind | undefined;
}

export interface FlagCandidate extends CompletionCandidate, CompletableArgument {
  /** True if the word after the flag is the flag's value. */
  readonly takesValue: boolean;
}

/** A position on the command line: the commands typed so far, such as `stories create`. */
export interface CommandPosition {
  readonly commandPath: string;
  readonly commands: readonly CompletionCandidate[];
  readonly flags: readonly FlagCandidate[];
  /** The arguments that are typed without a flag, in their order. */
  readonly positionals: readonly CompletableArgument[];
}

/** Shortens the text so that it fits next to a candidate. */
const shortenDescription = (text: string): string => {
  const line = sanitizeToOneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
};

const bareFlagName = ({ long, short }: Option): string => (long ?? short ?? '').replace(/^--?/, '');

const describeOptionValue = (option: Option): CompletableArgument => ({
  choices: option.argChoices ?? [],
  recordKind: option.required
    ? completableKindOf(bareFlagName(option), /<(.+)>/.exec(option.flags)?.[1] ?? '')
    : undefined,
});

/**
 * Describes the value of an argument that is typed without a flag. A flag of the same name has the same
 * values.
 */
function describeArgumentValue(argument: Argument, { options }: Command): CompletableArgument {
  const name = argument.name();
  const option = options.find((one) => [name, `${name}-id`].includes(bareFlagName(one)));
  if (option !== undefined && !argument.variadic) return describeOptionValue(option);
  return { choices: argument.argChoices ?? [], recordKind: completableKindOf(name, name) };
}

/** Lists the options that help shows, and the hidden shorter names of options that take a value. */
function optionsOf(command: Command): Option[] {
  const shown = command.createHelp().visibleOptions(command);
  return [...shown, ...command.options.filter(({ hidden, required }) => hidden && required)];
}

function describePosition(command: Command, path: string): CommandPosition {
  const help = command.createHelp();
  return {
    commandPath: path,
    commands: help.visibleCommands(command).map((inner) => ({
      name: inner.name(),
      meaning: shortenDescription(inner.summary() || inner.description()),
    })),
    flags: optionsOf(command).map((option) => ({
      name: option.long ?? option.short ?? '',
      meaning: shortenDescription(option.description),
      // A flag with an optional value is completed like a flag without a value.
      takesValue: option.required,
      ...describeOptionValue(option),
    })),
    positionals: command.registeredArguments.map((argument) => describeArgumentValue(argument, command)),
  };
}

/** Lists every position of a completely filled tree. */
export function listCommandPositions(program: Command): CommandPosition[] {
  const walk = (command: Command, words: readonly string[]): CommandPosition[] => [
    describePosition(command, words.join(' ')),
    ...command
      .createHelp()
      .visibleCommands(command)
      // Skips the help command of a group, which exists for display only.
      .filter((inner) => command.commands.includes(inner))
      .flatMap((inner) => walk(inner, [...words, inner.name()])),
  ];
  const places = walk(program, []);
  // `call` takes the name of an operation, and then the arguments of that operation.
  const called = [...operations.values()].map(({ name, summary }) => ({
    name,
    meaning: shortenDescription(summary),
  }));
  const byPlace = new Map(places.map((place) => [place.commandPath, place]));
  return [
    ...places.map((place) => (place.commandPath === 'call' ? { ...place, commands: called } : place)),
    ...called.flatMap(({ name }) => {
      const place = byPlace.get(commandWords(name).join(' '));
      return place === undefined ? [] : [{ ...place, commandPath: `call ${name}` }];
    }),
  ];
}
