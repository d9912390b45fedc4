/** The command tree for completion: the candidates after each word. */
import { operations } from '@muster/registry';
import { onOneLine } from '@muster/terminal';
import { type Argument, type Command, type Option } from 'commander';
import { commandWords } from '@muster/reference';
import { type Thing, thingOf } from './things.ts';

export interface CompletionCandidate {
  readonly name: string;
  readonly meaning: string;
}

/** A value that a flag or an argument takes: the possible values, or the kind of record that it names. */
export interface Worth {
  readonly choices: readonly string[];
  /** The kind of record that the value names. Completion fetches the ids from the API. */
  readonly thing: Thing | undefined;
}

export interface FlagCandidate extends CompletionCandidate, Worth {
  /** True if the word after the flag is the flag's value. */
  readonly takesValue: boolean;
}

/** A position on the command line: the commands typed so far, such as `stories create`. */
export interface CommandPosition {
  readonly at: string;
  readonly commands: readonly CompletionCandidate[];
  readonly flags: readonly FlagCandidate[];
  /** The arguments that are typed without a flag, in their order. */
  readonly words: readonly Worth[];
}

/** Shortens the text so that it fits next to a candidate. */
const brief = (text: string): string => {
  const line = onOneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
};

const bare = ({ long, short }: Option): string => (long ?? short ?? '').replace(/^--?/, '');

const worthOfOption = (option: Option): Worth => ({
  choices: option.argChoices ?? [],
  thing: option.required ? thingOf(bare(option), /<(.+)>/.exec(option.flags)?.[1] ?? '') : undefined,
});

/**
 * Describes the value of an argument that is typed without a flag. A flag of the same name has the same
 * values.
 */
function worthOfArgument(argument: Argument, { options }: Command): Worth {
  const name = argument.name();
  const option = options.find((one) => [name, `${name}-id`].includes(bare(one)));
  if (option !== undefined && !argument.variadic) return worthOfOption(option);
  return { choices: argument.argChoices ?? [], thing: thingOf(name, name) };
}

/** Lists the options that help shows, and the hidden shorter names of options that take a value. */
function optionsOf(command: Command): Option[] {
  const shown = command.createHelp().visibleOptions(command);
  return [...shown, ...command.options.filter(({ hidden, required }) => hidden && required)];
}

function placeOf(command: Command, at: string): CommandPosition {
  const help = command.createHelp();
  return {
    at,
    commands: help
      .visibleCommands(command)
      .map((inner) => ({ name: inner.name(), meaning: brief(inner.summary() || inner.description()) })),
    flags: optionsOf(command).map((option) => ({
      name: option.long ?? option.short ?? '',
      meaning: brief(option.description),
      // A flag with an optional value is completed like a flag without a value.
      takesValue: option.required,
      ...worthOfOption(option),
    })),
    words: command.registeredArguments.map((argument) => worthOfArgument(argument, command)),
  };
}

/** Lists every position of a completely filled tree. */
export function placesOf(program: Command): CommandPosition[] {
  const walk = (command: Command, words: readonly string[]): CommandPosition[] => [
    placeOf(command, words.join(' ')),
    ...command
      .createHelp()
      .visibleCommands(command)
      // Skips the help command of a group, which exists for display only.
      .filter((inner) => command.commands.includes(inner))
      .flatMap((inner) => walk(inner, [...words, inner.name()])),
  ];
  const places = walk(program, []);
  // `call` takes the name of an operation, and then the arguments of that operation.
  const called = [...operations.values()].map(({ name, summary }) => ({ name, meaning: brief(summary) }));
  const byPlace = new Map(places.map((place) => [place.at, place]));
  return [
    ...places.map((place) => (place.at === 'call' ? { ...place, commands: called } : place)),
    ...called.flatMap(({ name }) => {
      const place = byPlace.get(commandWords(name).join(' '));
      return place === undefined ? [] : [{ ...place, at: `call ${name}` }];
    }),
  ];
}
