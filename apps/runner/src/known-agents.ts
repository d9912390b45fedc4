/** Agents that speak the Agent Client Protocol, by the name that they are asked for with. */
import { type Config } from './config.ts';

/** By the protocol, or a command that reads its standard input and ends. */
export type Protocol = 'acp' | 'command';

/** Versions are pinned: an adapter that npx fetches is code that runs here. */
const known: Readonly<Record<string, readonly string[]>> = {
  claude: ['npx', '--yes', '@agentclientprotocol/claude-agent-acp@0.101.0'],
  codex: ['npx', '--yes', '@agentclientprotocol/codex-acp@2.6.0'],
  gemini: ['gemini', '--acp'],
};

export const knownAgents = Object.keys(known);

const knownAgent = (name: string | undefined): readonly string[] | undefined =>
  name === undefined || !Object.hasOwn(known, name) ? undefined : known[name];

export interface Chosen {
  readonly command: readonly string[];
  readonly protocol: Protocol;
  /** What the agent is called in Muster. */
  readonly name: string;
}

const nameOfCommand = (command: readonly string[]): string =>
  (command[0] ?? '')
    .split('/')
    .at(-1)
    ?.replace(/\.[a-z]+$/, '') || 'agent';

/**
 * The agent of a run: the command that was given, else the known agent that was named, else what the repository wishes.
 * Undefined where none of them says.
 */
export function chooseAgent(
  given: { readonly command: readonly string[]; readonly acp: boolean; readonly name: string | undefined },
  { agent }: Pick<Config, 'agent'>,
): Chosen | undefined {
  const name = given.name ?? agent.name;
  const chosen = (command: readonly string[], protocol: Protocol): Chosen => ({
    ...{ command, protocol, name: name ?? nameOfCommand(command) },
  });
  if (given.command.length > 0) return chosen(given.command, given.acp ? 'acp' : 'command');
  const named = knownAgent(given.name);
  if (named !== undefined) return chosen(named, 'acp');
  if (agent.command !== undefined) return chosen(agent.command, agent.protocol);
  const wished = knownAgent(agent.name);
  return wished && chosen(wished, 'acp');
}
