/** Fills commands when they are used, so that the code of other commands is not loaded. */
import { type Command } from 'commander';

type Fill = () => void | Promise<void>;

const waiting = new WeakMap<Command, Fill>();
const hooked = new WeakSet<Command>();

/** Fills the command, once. */
export async function open(command: Command): Promise<void> {
  const fill = waiting.get(command);
  waiting.delete(command);
  await fill?.();
}

/** Runs `fill` just before the command is parsed or shows its help. */
export function onOpening(command: Command, fill: Fill): void {
  waiting.set(command, fill);
  const { parent } = command;
  if (parent === null || hooked.has(parent)) return;
  hooked.add(parent);
  parent.hook('preSubcommand', (_parent, inner) => open(inner));
}

/** Fills the whole tree, for code that needs to know every command. */
export async function openAll(command: Command): Promise<void> {
  await open(command);
  for (const inner of command.commands) await openAll(inner);
}
