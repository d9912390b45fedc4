/** The command `muster completion`. */
import { Argument, type Command } from 'commander';
import { bashScript, fishScript, zshScript } from './scripts.ts';
import { type Thing, things } from './things.ts';
import { placesOf } from './tree.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

export function fillCompletion(command: Command, wholeTree: () => Promise<Command>): void {
  command
    .description(
      'Prints a script that completes commands, flags and their values. Names of projects, stories, epics, columns, members, agents and teams come from the API, which has one second to answer.',
    )
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Where to put it:
  bash  source <(muster completion bash)      in ~/.bashrc
  zsh   source <(muster completion zsh)       in ~/.zshrc, after compinit
  fish  muster completion fish | source       in ~/.config/fish/config.fish`,
    )
    .action(async (shell: Shell) => {
      process.stdout.write(scripts[shell](placesOf(await wholeTree())));
    });
  command
    .command('values', { hidden: true })
    .description('Prints the values that a completion script offers.')
    .addArgument(new Argument('<thing>', 'the kind of value').choices(things))
    .argument('<begun>', 'the part typed so far')
    .argument('[words...]', 'the words before it')
    .action(async (thing: Thing, begun: string, words: readonly string[]) => {
      const { linesFor } = await import('./values.ts');
      const lines = await linesFor(thing, begun, words);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}
