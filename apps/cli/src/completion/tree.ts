/** The command tree as completion needs it: what may come after each word. */
import { operations } from '@muster/registry';
import { onOneLine } from '@muster/terminal';
import { type Command } from 'commander';
import { commandWords } from '@muster/reference';

export interface Candidate {
  readonly name: string;
  readonly meaning: string;
}

export interface FlagCandidate extends Candidate {
  /** The next word is its value. */
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A place on the command line: the commands typed so far, such as `stories create`. */
export interface Place {
  readonly at: string;
  readonly commands: readonly Candidate[];
  readonly flags: readonly FlagCandidate[];
}

/** As long as fits beside a candidate. */
const brief = (text: string): string => {
  const line = onOneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
};

function placeOf(command: Command, at: string): Place {
  const help = command.createHelp();
  return {
    at,
    commands: help
      .visibleCommands(command)
      .map((inner) => ({ name: inner.name(), meaning: brief(inner.summary() || inner.description()) })),
    flags: help.visibleOptions(command).map((option) => ({
      name: option.long ?? option.short ?? '',
      meaning: brief(option.description),
      // One whose value may be missing is completed as a switch.
      takesValue: option.required,
      choices: option.argChoices ?? [],
    })),
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
