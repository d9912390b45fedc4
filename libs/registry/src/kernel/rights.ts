/** What a token may do, and why not: the rules that need no record, stated once for the pipeline, tool lists and documents. */
import { type Ground, type Scope, scopeCovers } from './access.ts';
import { type Operation } from './operation.ts';
import { type ReasonOf } from './reasons.ts';

/** What each ground is in words, and the reason of the 403 where it does not hold. */
export const grounds = {
  admin: { words: 'an admin of the organization, with the scope admin', reason: 'role' },
  teamLead: { words: 'a lead of the team', reason: 'role' },
  sendsToFew: { words: 'a sender to a team, or to a project as a contributor of it', reason: 'role' },
  author: { words: 'its author', reason: 'not_the_author' },
  publisher: { words: 'its first publisher', reason: 'not_publisher' },
  holder: { words: 'its holder', reason: 'not_the_holder' },
  projectLead: { words: 'a lead of the project', reason: 'role' },
} as const satisfies Record<Ground, { words: string; reason: ReasonOf<'forbidden'> }>;

/** Those who may, of whom the role is not all: `its author, or a lead of the project`. */
export const groundsInWords = (wanted: readonly Ground[]): string =>
  wanted.map((ground) => grounds[ground].words).join(', or ');

/** What of a token decides. */
export interface TokenFacts {
  readonly scopes: readonly Scope[];
  readonly agentId: string | null;
  /** The projects it is bound to; null: every project that its member may see. */
  readonly projectIds: readonly string[] | null;
  /** Its member let this agent read their inbox. */
  readonly mayReadInbox: boolean;
}

/** What of an operation decides. */
type Asked = Pick<Operation, 'scope' | 'byMemberOnly' | 'readsInbox' | 'takesBoundTokens'>;

/** The reasons of a 403 for which a token alone is enough. */
type TokenReason = Extract<ReasonOf<'forbidden'>, 'scope' | 'agents_may_not' | 'bound_token'>;

/** Why a token may not call an operation, whatever the role of its member; null where it may. */
export function tokenRefusal(asked: Asked, token: TokenFacts): TokenReason | null {
  // guard: an agent is not its member
  const isAgents = token.agentId !== null;
  if (isAgents && (asked.byMemberOnly || (asked.readsInbox && !token.mayReadInbox))) return 'agents_may_not';
  if (!scopeCovers(token.scopes, asked.scope)) return 'scope';
  // guard: what a bound token may not
  if (token.projectIds !== null && !asked.takesBoundTokens) return 'bound_token';
  return null;
}

/** How long a proof of a session is fresh, in minutes. */
export const proofMinutes = 10;
