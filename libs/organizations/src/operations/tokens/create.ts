import { type Db, orgFilter, sql } from '@muster/driver';
import {
  forbidden,
  maxTokensPerMember,
  orgRank,
  type OrgRole,
  roleTooLow,
  scopeTooSmall,
} from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type Caller, handle, newTokenSecret } from '@muster/runtime';
import { type AgentRow, lockAgent } from '../../data/agents.ts';
import { lockCallerMembership } from '../../data/members.ts';
import { resolveProjectIds } from '../../data/named-projects.ts';
import { isAdmin } from '../../data/reach.ts';
import { countLiveTokens, lockParentToken, insertToken, toAccessToken } from '../../data/tokens.ts';
import { checkTokenCreation } from '../../rules/token-making.ts';

export const create = handle(
  organizationsRegistry.tokens.create,
  async ({ params, caller, db, access, refuse }) => {
    const { agentId = null, projectIds: refs, mayReadInbox = false, scopes } = params;
    const [{ actingRole }, bearer, parentId, projectIds, count] = await Promise.all([
      access(),
      lockTokenBearer(db, caller, agentId),
      lockParentToken(db, caller),
      refs === undefined ? caller.projectIds : resolveProjectIds(db, caller, refs),
      countLiveTokens(db, bearerMemberIdSql(caller, agentId), maxTokensPerMember),
    ]);
    if (bearer.memberId !== caller.memberId) {
      if (!isAdmin(caller, actingRole)) throw forbidden('not_own_agent');
      requireNoAdditionalRights(actingRole, bearer.role, mayReadInbox);
    }
    if (scopes.includes('scim') && projectIds !== null) throw forbidden('bound_token');
    const ruling = checkTokenCreation(caller.scopes, scopes, bearer.role);
    if (ruling.kind === 'scope') throw scopeTooSmall({ needed: ruling.needed, held: caller.scopes });
    if (ruling.kind === 'role') throw roleTooLow({ needed: 'admin', held: bearer.role });
    const retiredAt = bearer.agent?.retired_at ?? null;
    if (retiredAt !== null) throw refuse('agent_retired', { retiredAt });
    if (count >= maxTokensPerMember)
      throw refuse('limit_exceeded', { limit: 'tokens', max: maxTokensPerMember });

    const secret = newTokenSecret();
    const token = await insertToken(db, {
      ...{ secret, scopes, agentId, mayReadInbox, name: params.name, memberId: bearer.memberId },
      projectIds,
      expiresInDays: params.expiresInDays,
      parentId,
    });
    return { token: toAccessToken(token), secret };
  },
);

/** The member or agent to whom the new token will belong. */
interface TokenBearer {
  readonly memberId: string;
  readonly role: OrgRole;
  readonly agent: AgentRow | null;
}

/**
 * Locks the bearer of the new token. So two concurrent calls cannot exceed the limit, and no token is created
 * for an agent that is being retired.
 */
async function lockTokenBearer(db: Db, caller: Caller, agentId: string | null): Promise<TokenBearer> {
  if (agentId === null) {
    const { id, role } = await lockCallerMembership(db, caller);
    return { memberId: id, role, agent: null };
  }
  const { agent, role } = await lockAgent(db, agentId);
  return { memberId: agent.member_id, role, agent };
}

const bearerMemberIdSql = ({ memberId }: Caller, agentId: string | null) =>
  agentId === null
    ? sql.part`${memberId}::uuid`
    : sql.part`(select a.member_id from agents a where ${orgFilter('a')} and a.id = ${agentId}::uuid)`;

/**
 * Throws 403 if an admin would gain rights with a token of another member's agent. Such rights are those of a
 * higher role, and access to that member's inbox.
 */
function requireNoAdditionalRights(callerRole: OrgRole, bearerRole: OrgRole, mayReadInbox: boolean): void {
  if (orgRank(bearerRole) > orgRank(callerRole)) throw roleTooLow({ needed: bearerRole, held: callerRole });
  if (mayReadInbox)
    throw forbidden('not_own_agent', "Only the agent's own member can let it read their inbox.");
}
