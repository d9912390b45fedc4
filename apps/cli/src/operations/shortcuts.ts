/** What a command takes besides the parameters of its operation, to spare a person a call. */
import { hostname } from 'node:os';
import { type Client } from '@muster/client';
import { findOrMakeAgent } from '@muster/runner';
import { type Command } from 'commander';

type Params = Readonly<Record<string, unknown>>;

export interface Shortcut {
  /** Gives the command its flags. */
  readonly addTo: (command: Command) => void;
  /** The parameters with what the flags mean; as they are where none was given. */
  readonly complete: (params: Params, flags: Params, client: () => Promise<Client>) => Promise<Params>;
}

/** `muster tokens create --agent claude`: an agent is named by its slug, and what is needed besides has defaults. */
const tokenOfAgent: Shortcut = {
  addTo: (command) => {
    command
      .optionsGroup('Parameters:')
      .option(
        '--agent <slug>',
        'an agent of yours by its slug or name, in place of --agent-id; made where there is none. --name and --scopes then need not be given: the agent on this machine, and write',
      );
  },
  complete: async (params, { agent }, client) => {
    if (typeof agent !== 'string') return params;
    const { id, slug } = await findOrMakeAgent(await client(), agent);
    return { name: `${slug} on ${hostname()}`.slice(0, 120), scopes: ['write'], ...params, agentId: id };
  },
};

/** By the name of the operation. */
export const shortcuts: ReadonlyMap<string, Shortcut> = new Map([['tokens.create', tokenOfAgent]]);
