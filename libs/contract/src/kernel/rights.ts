/**
 * The access rules that need only the token and the operation. The pipeline, tool lists and documentation
 * share them.
 */
import { type Ground, type Scope, scopeCovers } from './access.ts';
import { type Operation } from './operation.ts';
import { type ReasonOf } from './reasons.ts';

/**
 * Some operations require a ground in addition to the role, such as being the author. Each ground has a description,
 * and the reason in the 403 for callers who do not meet it.
 */
export const groundDescriptions = {
  admin: { words: 'an admin of the organization, using a token with the scope admin', reason: 'role' },
  teamLead: { words: 'a lead of the team', reason: 'role' },
  sendsToFew: {
    words: 'a member who can send to the team, or a contributor who can send to the project',
    reason: 'role',
  },
  author: { words: 'its author', reason: 'not_the_author' },
  publisher: { words: 'its first publisher', reason: 'not_publisher' },
  holder: { words: 'its holder', reason: 'not_the_holder' },
  projectLead: { words: 'a lead of the project', reason: 'role' },
} as const satisfies Record<Ground, { words: string; reason: ReasonOf<'forbidden'> }>;

/** Describes the callers whom these grounds permit: `its author, or a lead of the project`. */
export const describePermittedCallers = (requiredGrounds: readonly Ground[]): string =>
  requiredGrounds.map((ground) => groundDescriptions[ground].words).join(', or ');

/** The facts about a token on which access depends. */
export interface TokenFacts {
  readonly scopes: readonly Scope[];
  readonly agentId: string | null;
  /** The projects to which the token is bound; null for all projects that its member may see. */
  readonly projectIds: readonly string[] | null;
  /** True if the member allowed this agent to read their inbox. */
  readonly mayReadInbox: boolean;
}

/** The facts about an operation that decide whether a token may call it. */
type OperationRequirements = Pick<Operation, 'scope' | 'byMemberOnly' | 'readsInbox' | 'takesBoundTokens'>;

/** The reasons of a 403 that depend only on the token. */
type TokenReason = Extract<ReasonOf<'forbidden'>, 'scope' | 'agents_may_not' | 'bound_token'>;

/**
 * Returns the reason why a token may not call an operation, whatever role its member has; null if the token
 * may call it.
 */
export function tokenRefusal(operation: OperationRequirements, token: TokenFacts): TokenReason | null {
  // guard: an agent is not its member
  const isAgents = token.agentId !== null;
  if (isAgents && (operation.byMemberOnly || (operation.readsInbox && !token.mayReadInbox)))
    return 'agents_may_not';
  if (!scopeCovers(token.scopes, operation.scope)) return 'scope';
  // guard: what a bound token may not
  if (token.projectIds !== null && !operation.takesBoundTokens) return 'bound_token';
  return null;
}

/** The validity of a session's identity confirmation, in minutes. */
export const identityProofValidMinutes = 10;
