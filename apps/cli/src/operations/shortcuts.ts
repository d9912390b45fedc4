/** Additional flags of a command that save the user another call. */
import { hostname } from 'node:os';
import { type Client } from '@muster/client';
import { findOrMakeAgent } from '@muster/runner';
import { type Command } from 'commander';

type Params = Readonly<Record<string, unknown>>;

export interface Shortcut {
  /** Adds the shortcut's flags to the command. */
  readonly addFlagsTo: (command: Command) => void;
  /**
   * Returns the parameters, completed from the shortcut's flags. Without such a flag the parameters are
   * unchanged.
   */
  readonly completeParams: (params: Params, flags: Params, client: () => Promise<Client>) => Promise<Params>;
}

/**
 * `muster tokens create --agent claude` names an agent by its slug, and has defaults for the other required
 * parameters.
 */
const agentTokenShortcut: Shortcut = {
  addFlagsTo: (command) => {
    command
      .optionsGroup('Parameters:')
      .option(
        '--agent <slug>',
        'the slug or name of your agent, instead of --agent-id; created if it does not exist. --name and --scopes are then optional: they default to the agent on this machine, and write',
      );
  },
  completeParams: async (params, { agent }, client) => {
    if (typeof agent !== 'string') return params;
    const { id, slug } = await findOrMakeAgent(await client(), agent);
    return { name: `${slug} on ${hostname()}`.slice(0, 120), scopes: ['write'], ...params, agentId: id };
  },
};

/** The shortcuts by the name of the operation. */
export const shortcuts: ReadonlyMap<string, Shortcut> = new Map([['tokens.create', agentTokenShortcut]]);
