/** The identity of a run: an agent of the caller, with a token for this run that reaches one project. */
import { type Client, isRefusal, MusterError } from '@muster/client';
import { UsageError } from '@muster/terminal';
import { findOrMakeAgent } from './agents.ts';

export interface RunIdentity {
  readonly token: string;
  readonly holderId: string;
  readonly agentId: string;
}

const tokenNameOf = (runId: string): string => `muster work ${runId}`.slice(0, 120);

/**
 * The lifetime of the token in days. A question may wait for people that long; the token is revoked when the
 * run ends.
 */
const tokenLifetimeDays = 7;

/**
 * The error of a run that could not get its own token. No agent is started then, because a model never gets a
 * person's token.
 */
export class RunTokenError extends Error {
  constructor(reason: string) {
    super(
      `no token could be created for the run: ${reason} Retire unused agents (muster agents retire), use a token that may create tokens, or start the runner with an agent's token.`,
    );
  }
}

/**
 * Creates an agent and a token for the run if a member calls. An agent cannot create either, and works as
 * itself.
 */
export async function createRunIdentity(
  client: Client,
  options: {
    readonly token: string;
    readonly runId: string;
    /** The only project that the token reaches. Without one the token can only read, in all projects. */
    readonly project: string | undefined;
    readonly agentName: string;
    /** If true, `--as-me` was given. A caller who is not an agent is then rejected. */
    readonly asMe?: boolean;
  },
): Promise<RunIdentity> {
  const { token } = await client.session.identity();
  if (token.agentId !== null)
    return { token: options.token, holderId: token.agentId, agentId: token.agentId };
  if (options.asMe === true) throw new UsageError("--as-me requires an agent's token");
  try {
    const agent = await findOrMakeAgent(client, options.agentName).catch((error: unknown) => {
      // Another run created the agent between the lookup and the call.
      if (isRefusal(error, 'already_exists')) return findOrMakeAgent(client, options.agentName);
      throw error;
    });
    const { secret } = await client.tokens.create({
      ...{ name: tokenNameOf(options.runId), agentId: agent.id, expiresInDays: tokenLifetimeDays },
      ...(options.project === undefined
        ? { scopes: ['read'] }
        : { scopes: ['write'], projectIds: [options.project] }),
    });
    return { token: secret, holderId: agent.id, agentId: agent.id };
  } catch (error) {
    if (!(error instanceof MusterError) || error.status === 404 || error.status >= 500) throw error;
    throw new RunTokenError(error.body.message);
  }
}

/** Revokes the tokens that were created for the run, including those that a killed runner did not record. */
export async function revokeRunTokens(client: Client, runId: string): Promise<void> {
  try {
    for await (const { id, name, revokedAt } of client.tokens.list.all({ limit: 200 })) {
      if (name === tokenNameOf(runId) && revokedAt === null) await client.tokens.revoke({ tokenId: id });
    }
  } catch (error) {
    // An agent may not list tokens. An agent has created no tokens, so there is nothing to revoke.
    if (!(error instanceof MusterError) || error.status !== 403) throw error;
  }
}
