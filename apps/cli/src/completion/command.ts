/** muster completion. */
import { Argument, type Command } from 'commander';
import { bashScript, fishScript, zshScript } from './scripts.ts';
import { placesOf } from './tree.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

export function fillCompletion(command: Command, wholeTree: () => Promise<Command>): void {
  command
    .description('Prints a script that completes commands, flags and their values.')
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
}
