/** Commands that are made complete when they are used: what the others need is not loaded. */
import { type Command } from 'commander';

type Fill = () => void | Promise<void>;

const waiting = new WeakMap<Command, Fill>();
const hooked = new WeakSet<Command>();

/** Makes the command complete, once. */
export async function open(command: Command): Promise<void> {
  const fill = waiting.get(command);
  waiting.delete(command);
  await fill?.();
}

/** Has `fill` done before the command is parsed or shows its help, and not before. */
export function onOpening(command: Command, fill: Fill): void {
  waiting.set(command, fill);
  const { parent } = command;
  if (parent === null || hooked.has(parent)) return;
  hooked.add(parent);
  parent.hook('preSubcommand', (_parent, inner) => open(inner));
}

/** All of the tree, for what has to know every command. */
export async function openAll(command: Command): Promise<void> {
  await open(command);
  for (const inner of command.commands) await openAll(inner);
}
