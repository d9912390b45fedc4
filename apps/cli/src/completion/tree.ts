/** The command tree as completion needs it: what may come after each word. */
import { operations } from '@muster/registry';
import { onOneLine } from '@muster/terminal';
import { type Argument, type Command, type Option } from 'commander';
import { commandWords } from '@muster/reference';
import { type Thing, thingOf } from './things.ts';

export interface Candidate {
  readonly name: string;
  readonly meaning: string;
}

/** What is known of a value. */
export interface Worth {
  readonly choices: readonly string[];
  /** What it names, of which the API knows the ids. */
  readonly thing: Thing | undefined;
}

export interface FlagCandidate extends Candidate, Worth {
  /** The next word is its value. */
  readonly takesValue: boolean;
}

/** A place on the command line: the commands typed so far, such as `stories create`. */
export interface Place {
  readonly at: string;
  readonly commands: readonly Candidate[];
  readonly flags: readonly FlagCandidate[];
  /** The values that need no flag, in their order. */
  readonly words: readonly Worth[];
}

/** As long as fits beside a candidate. */
const brief = (text: string): string => {
  const line = onOneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
};

const bare = ({ long, short }: Option): string => (long ?? short ?? '').replace(/^--?/, '');

const worthOfOption = (option: Option): Worth => ({
  choices: option.argChoices ?? [],
  thing: option.required ? thingOf(bare(option), /<(.+)>/.exec(option.flags)?.[1] ?? '') : undefined,
});

/** A word without its flag is worth what the flag's value is. */
function worthOfArgument(argument: Argument, { options }: Command): Worth {
  const name = argument.name();
  const option = options.find((one) => [name, `${name}-id`].includes(bare(one)));
  if (option !== undefined && !argument.variadic) return worthOfOption(option);
  return { choices: argument.argChoices ?? [], thing: thingOf(name, name) };
}

/** Those that help shows, and the shorter names beside them. */
function optionsOf(command: Command): Option[] {
  const shown = command.createHelp().visibleOptions(command);
  return [...shown, ...command.options.filter(({ hidden, required }) => hidden && required)];
}

function placeOf(command: Command, at: string): Place {
  const help = command.createHelp();
  return {
    at,
    commands: help
      .visibleCommands(command)
      .map((inner) => ({ name: inner.name(), meaning: brief(inner.summary() || inner.description()) })),
    flags: optionsOf(command).map((option) => ({
      name: option.long ?? option.short ?? '',
      meaning: brief(option.description),
      // One whose value may be missing is completed as a switch.
      takesValue: option.required,
      ...worthOfOption(option),
    })),
    words: command.registeredArguments.map((argument) => worthOfArgument(argument, command)),
  };
}

/** Every place of a tree that is complete. */
export function placesOf(program: Command): Place[] {
  const walk = (command: Command, words: readonly string[]): Place[] => [
    placeOf(command, words.join(' ')),
    ...command
      .createHelp()
      .visibleCommands(command)
      // The help command of each group is made for showing only.
      .filter((inner) => command.commands.includes(inner))
      .flatMap((inner) => walk(inner, [...words, inner.name()])),
  ];
  const places = walk(program, []);
  // `call` takes the operations by their names, and then what they take.
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
