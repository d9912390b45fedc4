/** As whom a run works: an agent of the caller, by a token of the run's own that reaches one project. */
import { type Client, isRefusal, MusterError } from '@muster/client';
import { UsageError } from '@muster/terminal';
import { findOrMakeAgent } from './agents.ts';

export interface RunIdentity {
  readonly token: string;
  readonly holderId: string;
  readonly agentId: string;
}

const nameOf = (runId: string): string => `muster work ${runId}`.slice(0, 120);

/** A question may wait for people that long; the token is revoked when the run is over. */
const days = 7;

/** The run has no token of its own, so no agent is started: a model never gets the token of a person. */
export class NoRunToken extends Error {
  constructor(why: string) {
    super(
      `no token could be made for the run: ${why} Retire agents that are not used (muster agents retire), use a token that may make tokens, or start the runner with the token of an agent.`,
    );
  }
}

/** A member's call makes an agent and a token for the run. An agent may make none, and works as itself. */
export async function identifyRun(
  client: Client,
  given: {
    readonly token: string;
    readonly runId: string;
    readonly project: string;
    readonly agentName: string;
    /** Refuses a caller who is no agent. */
    readonly asMe?: boolean;
  },
): Promise<RunIdentity> {
  const { token } = await client.session.identity();
  if (token.agentId !== null) return { token: given.token, holderId: token.agentId, agentId: token.agentId };
  if (given.asMe === true) throw new UsageError('--as-me needs the token of an agent');
  try {
    const agent = await findOrMakeAgent(client, given.agentName).catch((error: unknown) => {
      // Another run made it between the look and the making.
      if (isRefusal(error, 'already_exists')) return findOrMakeAgent(client, given.agentName);
      throw error;
    });
    const { secret } = await client.tokens.create({
      ...{ name: nameOf(given.runId), scopes: ['write'], projectIds: [given.project] },
      ...{ agentId: agent.id, expiresInDays: days },
    });
    return { token: secret, holderId: agent.id, agentId: agent.id };
  } catch (error) {
    if (!(error instanceof MusterError) || error.status === 404 || error.status >= 500) throw error;
    throw new NoRunToken(error.body.message);
  }
}

/** Ends what was made for the run, also by a runner that did not live to write it down. */
export async function endTokens(client: Client, runId: string): Promise<void> {
  try {
    for await (const { id, name, revokedAt } of client.tokens.list.all({ limit: 200 })) {
      if (name === nameOf(runId) && revokedAt === null) await client.tokens.revoke({ tokenId: id });
    }
  } catch (error) {
    // An agent has made none, and may not ask.
    if (!(error instanceof MusterError) || error.status !== 403) throw error;
  }
}
