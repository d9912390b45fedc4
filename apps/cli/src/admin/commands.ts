/**
 * The operators' commands. Each command is available as `muster admin <word>`, and also as `muster <word>`,
 * its earlier name.
 */
import { type Command } from 'commander';
import { configureAfterLossCommand } from './after-loss.ts';
import { addDescriptionAndJsonOption } from './command.ts';
import { addOutboxCommands } from './jobs.ts';
import { configureMigrateCommand } from './migrate.ts';
import { configureMoveCommand, configureNodesCommand, configurePlaceCommand } from './nodes.ts';
import { addMemberCommands, addOrganizationCommands } from './organizations.ts';
import { addPlatformCommands, addTokenCommands } from './tokens.ts';
import { operatorCommandSummaries, type OperatorCommandName } from './words.ts';

/** Operators' commands without subcommands. */
const commandsWithoutSubcommands = {
  migrate: configureMigrateCommand,
  'after-loss': configureAfterLossCommand,
  nodes: configureNodesCommand,
  place: configurePlaceCommand,
  move: configureMoveCommand,
} as const;

const isCommandWithoutSubcommands = (
  commandName: OperatorCommandName,
): commandName is keyof typeof commandsWithoutSubcommands => commandName in commandsWithoutSubcommands;

const commandGroupBuilders: Readonly<
  Record<Exclude<OperatorCommandName, keyof typeof commandsWithoutSubcommands>, (group: Command) => void>
> = {
  org: addOrganizationCommands,
  member: addMemberCommands,
  token: addTokenCommands,
  platform: addPlatformCommands,
  outbox: addOutboxCommands,
};

/**
 * Adds all operators' commands below `parent`. If a word is given, `parent` itself becomes the command of
 * that word.
 */
export function addAdminCommands(parent: Command, operatorCommand?: OperatorCommandName): void {
  const make = (of: OperatorCommandName, command: Command): void => {
    if (isCommandWithoutSubcommands(of))
      commandsWithoutSubcommands[of](addDescriptionAndJsonOption(command, operatorCommandSummaries[of]));
    else commandGroupBuilders[of](command.description(operatorCommandSummaries[of]));
  };
  if (operatorCommand !== undefined) {
    make(operatorCommand, parent);
    return;
  }
  for (const each of Object.keys(operatorCommandSummaries) as OperatorCommandName[])
    make(each, parent.commands.find((command) => command.name() === each) ?? parent.command(each));
}
