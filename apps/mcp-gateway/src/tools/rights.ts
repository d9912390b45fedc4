/**
 * Identifies tokens and determines the tools that they may use. Identities are cached briefly for tool lists
 * and for early rejection of requests; the API authorizes each call.
 */
import { createClient, MusterError, type Transport } from '@muster/client';
import {
  type Operation,
  orgRank,
  type OrgRole,
  scopeCovers,
  type TokenFacts,
  tokenRefusal,
} from '@muster/contract';
import { LRUCache } from 'lru-cache';
import { type AnyTool } from './toolbox.ts';

/** The part of a token's identity that determines which tools it sees. */
export interface CallerIdentity {
  readonly token: TokenFacts;
  /**
   * The member that the token acts for; null for an operator's token, which belongs to no organization and
   * cannot query its identity.
   */
  readonly actsFor: {
    readonly name: string;
    /** The agent's name, if the token belongs to an agent of the member. */
    readonly agent?: string;
    readonly org: string;
    readonly role: OrgRole;
  } | null;
  /** Ids for correlating logs. */
  readonly ids: { readonly orgId: string; readonly memberId: string; readonly agentId: string | null } | null;
}

const operatorIdentity: CallerIdentity = {
  token: { scopes: ['platform'], agentId: null, projectIds: null, mayReadInbox: true },
  actsFor: null,
  ids: null,
};

async function fetchIdentity(transport: Transport): Promise<CallerIdentity> {
  try {
    const { member, agent, org, token } = await createClient(transport).session.identity();
    const { name, role } = member;
    return {
      token,
      actsFor: { name, role, org: org.name, ...(agent !== null && { agent: agent.name }) },
      ids: { orgId: org.id, memberId: member.id, agentId: token.agentId },
    };
  } catch (failure) {
    // Only operator tokens lack a scope that covers session.identity.
    if (failure instanceof MusterError && failure.code === 'forbidden') return operatorIdentity;
    throw failure;
  }
}

/**
 * Cache lifetime. A revoked token can list tools for this long unless it makes a call; every call is
 * rejected.
 */
const identityCacheMillis = 30_000;
const maxCachedIdentities = 10_000;

export class IdentityCache {
  readonly #known = new LRUCache<string, CallerIdentity>({
    max: maxCachedIdentities,
    ttl: identityCacheMillis,
  });
  /** Requests in progress, so that each token is identified only once at a time. */
  readonly #asked = new Map<string, Promise<CallerIdentity>>();

  /** Returns the cached identity, without calling the API. */
  known(token: string): CallerIdentity | undefined {
    return this.#known.get(token);
  }

  /** Identifies the caller. `token` is a digest; the secret is never stored. */
  of(token: string, transport: Transport): Promise<CallerIdentity> {
    const asked = this.#asked.get(token);
    if (asked !== undefined) return asked;
    const identity = fetchIdentity(transport)
      .then((answer) => {
        this.#known.set(token, answer);
        return answer;
      })
      .finally(() => this.#asked.delete(token));
    this.#asked.set(token, identity);
    return identity;
  }

  /** Removes a token that the API rejected. */
  forget(token: string): void {
    this.#known.delete(token);
  }
}

/**
 * Returns true if the token's scope and role allow the operation. The API decides about individual records.
 */
export function mayCallOperation(operation: Operation, { token, actsFor }: CallerIdentity): boolean {
  if (tokenRefusal(operation, token) !== null) return false;
  const { access } = operation;
  return access.kind !== 'org' || (actsFor !== null && orgRank(actsFor.role) >= orgRank(access.role));
}

export function mayUseTool(tool: AnyTool, identity: CallerIdentity): boolean {
  if (tool.kind === 'operation') return mayCallOperation(tool.operation, identity);
  if (tool.kind === 'macro')
    return tool.operations.every((operation) => mayCallOperation(operation, identity));
  return tool.tool.annotations?.readOnlyHint === true || scopeCovers(identity.token.scopes, 'write');
}

/** Returns a cache key that is equal for callers who may use the same tools. */
export const rightsCacheKey = ({
  token: { scopes, agentId, projectIds, mayReadInbox },
  actsFor,
}: CallerIdentity): string =>
  [
    scopes.toSorted().join(','),
    actsFor?.role ?? '',
    agentId === null ? '' : mayReadInbox ? 'agent with inbox' : 'agent',
    projectIds === null ? '' : 'bound',
  ].join(' ');
