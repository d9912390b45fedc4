/** The command `muster completion`. */
import { Argument, type Command } from 'commander';
import { buildBashScript, buildFishScript, buildZshScript } from './scripts.ts';
import { type CompletableKind, completableKinds } from './things.ts';
import { listCommandPositions } from './tree.ts';

const completionScriptBuilders = { bash: buildBashScript, zsh: buildZshScript, fish: buildFishScript };
type Shell = keyof typeof completionScriptBuilders;

export function configureCompletionCommand(command: Command, loadCommandTree: () => Promise<Command>): void {
  command
    .description(
      'Prints a script that completes commands, flags and their values. Names of projects, stories, epics, columns, members, agents and teams come from the API, which has one second to answer.',
    )
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(completionScriptBuilders)))
    .addHelpText(
      'after',
      `
Where to put it:
  bash  source <(muster completion bash)      in ~/.bashrc
  zsh   source <(muster completion zsh)       in ~/.zshrc, after compinit
  fish  muster completion fish | source       in ~/.config/fish/config.fish`,
    )
    .action(async (shell: Shell) => {
      process.stdout.write(completionScriptBuilders[shell](listCommandPositions(await loadCommandTree())));
    });
  command
    .command('values', { hidden: true })
    .description('Prints the values that a completion script offers.')
    .addArgument(new Argument('<thing>', 'the kind of value').choices(completableKinds))
    .argument('<begun>', 'the part typed so far')
    .argument('[words...]', 'the words before it')
    .action(async (thing: CompletableKind, begun: string, words: readonly string[]) => {
      const { completionLines } = await import('./values.ts');
      const lines = await completionLines(thing, begun, words);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}
