/** The known agents that speak the Agent Client Protocol, by the names with which users select them. */
import { type WorkConfig } from './config.ts';

/**
 * The way to drive an agent: by the Agent Client Protocol, or as a command that reads its standard input and
 * exits.
 */
export type AgentProtocol = 'acp' | 'command';

/** Versions are pinned, because an adapter that npx downloads is code that runs on this machine. */
const knownAgentCommands: Readonly<Record<string, readonly string[]>> = {
  claude: ['npx', '--yes', '@agentclientprotocol/claude-agent-acp@0.101.0'],
  codex: ['npx', '--yes', '@agentclientprotocol/codex-acp@2.6.0'],
  gemini: ['gemini', '--acp'],
};

export const knownAgentNames = Object.keys(knownAgentCommands);

const knownAgentCommandOf = (name: string | undefined): readonly string[] | undefined =>
  name === undefined || !Object.hasOwn(knownAgentCommands, name) ? undefined : knownAgentCommands[name];

export interface ChosenAgent {
  readonly command: readonly string[];
  readonly protocol: AgentProtocol;
  /** The name of the agent record in Muster under which the run works. */
  readonly name: string;
}

/** Programs that run another program, which their first argument that is not an option names. */
const interpreters = new Set([
  ...['node', 'deno', 'bun', 'npx', 'bunx', 'python', 'python3', 'uv', 'uvx', 'bash', 'sh'],
]);

/** Options of interpreters after which no program is named, but code. */
const codeOptionPattern = /^(-[a-z]*[ce]|-p|--eval|--print|--call)$/;

/** Commands of an interpreter before the name of the program, as in `uv run agent.py`. */
const runCommands = new Set(['run', 'x', 'tool']);

const baseNameOf = (word: string): string => (word.split('/').at(-1) ?? '').replace(/\.[a-z]+$/, '');

/** Returns the name of the program that a command runs, without interpreters and the version of a package. */
function agentNameOf(command: readonly string[]): string {
  const [program = '', ...rest] = command;
  const own = baseNameOf(program);
  if (!interpreters.has(own)) return own || 'agent';
  const words = rest.slice(0, rest.findIndex((word) => codeOptionPattern.test(word)) >>> 0);
  const named = words.findIndex((word) => !word.startsWith('-') && !runCommands.has(word));
  if (named === -1) return own;
  const [script = '', ...others] = words.slice(named);
  return agentNameOf([script.replace(/(?<=.)@[^/]*$/, ''), ...others]);
}

/**
 * Chooses the agent of a run: the given command, else the named known agent, else the repository's setting.
 * Returns undefined if none of them is set.
 */
export function chooseAgent(
  flags: { readonly command: readonly string[]; readonly acp: boolean; readonly name: string | undefined },
  { agent }: Pick<WorkConfig, 'agent'>,
): ChosenAgent | undefined {
  const name = flags.name ?? agent.name;
  const chosen = (command: readonly string[], protocol: AgentProtocol): ChosenAgent => ({
    ...{ command, protocol, name: name ?? agentNameOf(command) },
  });
  if (flags.command.length > 0) return chosen(flags.command, flags.acp ? 'acp' : 'command');
  const named = knownAgentCommandOf(flags.name);
  if (named !== undefined) return chosen(named, 'acp');
  if (agent.command !== undefined) return chosen(agent.command, agent.protocol);
  const wished = knownAgentCommandOf(agent.name);
  return wished && chosen(wished, 'acp');
}
