/** Fills commands when they are used, so that the code of other commands is not loaded. */
import { type Command } from 'commander';

type FillCommand = () => void | Promise<void>;

const pendingFills = new WeakMap<Command, FillCommand>();
const hookedCommands = new WeakSet<Command>();

/** Fills the command, once. */
export async function ensureFilled(command: Command): Promise<void> {
  const fill = pendingFills.get(command);
  pendingFills.delete(command);
  await fill?.();
}

/** Runs `fill` just before the command is parsed or shows its help. */
export function fillOnFirstUse(command: Command, fill: FillCommand): void {
  pendingFills.set(command, fill);
  const { parent } = command;
  if (parent === null || hookedCommands.has(parent)) return;
  hookedCommands.add(parent);
  parent.hook('preSubcommand', (_parent, inner) => ensureFilled(inner));
}

/** Loads the subcommands of the whole tree, for code that needs to know every command. */
export async function loadAllSubcommands(command: Command): Promise<void> {
  await ensureFilled(command);
  for (const inner of command.commands) await loadAllSubcommands(inner);
}
