/** The known agents that speak the Agent Client Protocol, by the names with which users select them. */
import { type WorkConfig } from './config.ts';

/**
 * The way to drive an agent: by the Agent Client Protocol, or as a command that reads its standard input and
 * exits.
 */
export type Protocol = 'acp' | 'command';

/** Versions are pinned, because an adapter that npx downloads is code that runs on this machine. */
const known: Readonly<Record<string, readonly string[]>> = {
  claude: ['npx', '--yes', '@agentclientprotocol/claude-agent-acp@0.101.0'],
  codex: ['npx', '--yes', '@agentclientprotocol/codex-acp@2.6.0'],
  gemini: ['gemini', '--acp'],
};

export const knownAgents = Object.keys(known);

const knownAgent = (name: string | undefined): readonly string[] | undefined =>
  name === undefined || !Object.hasOwn(known, name) ? undefined : known[name];

export interface ChosenAgent {
  readonly command: readonly string[];
  readonly protocol: Protocol;
  /** The name of the agent record in Muster under which the run works. */
  readonly name: string;
}

const nameOfCommand = (command: readonly string[]): string =>
  (command[0] ?? '')
    .split('/')
    .at(-1)
    ?.replace(/\.[a-z]+$/, '') || 'agent';

/**
 * Chooses the agent of a run: the given command, else the named known agent, else the repository's setting.
 * Returns undefined if none of them is set.
 */
export function chooseAgent(
  given: { readonly command: readonly string[]; readonly acp: boolean; readonly name: string | undefined },
  { agent }: Pick<WorkConfig, 'agent'>,
): ChosenAgent | undefined {
  const name = given.name ?? agent.name;
  const chosen = (command: readonly string[], protocol: Protocol): ChosenAgent => ({
    ...{ command, protocol, name: name ?? nameOfCommand(command) },
  });
  if (given.command.length > 0) return chosen(given.command, given.acp ? 'acp' : 'command');
  const named = knownAgent(given.name);
  if (named !== undefined) return chosen(named, 'acp');
  if (agent.command !== undefined) return chosen(agent.command, agent.protocol);
  const wished = knownAgent(agent.name);
  return wished && chosen(wished, 'acp');
}
