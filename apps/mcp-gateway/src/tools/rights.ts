/**
 * Who a token is, and which tools that leaves; remembered briefly, for lists and for whether a body is read: calls are
 * decided by the API.
 */
import { createClient, MusterError, type Transport } from '@muster/client';
import {
  type Operation,
  orgRank,
  type OrgRole,
  scopeCovers,
  type TokenFacts,
  tokenRefusal,
} from '@muster/registry';
import { LRUCache } from 'lru-cache';
import { type AnyTool } from './toolbox.ts';

/** What of a token's identity decides what is shown to it. */
export interface Identity {
  readonly token: TokenFacts;
  /** Null: an operator's token, which stands outside of organizations and may not even ask who it is. */
  readonly acts: {
    readonly name: string;
    /** Its own name, where it is an agent of that member. */
    readonly agent?: string;
    readonly org: string;
    readonly role: OrgRole;
  } | null;
  /** For those who follow a call through the logs. */
  readonly ids: { readonly orgId: string; readonly memberId: string; readonly agentId: string | null } | null;
}

const operator: Identity = {
  token: { scopes: ['platform'], agentId: null, projectIds: null, mayReadInbox: true },
  acts: null,
  ids: null,
};

async function identify(transport: Transport): Promise<Identity> {
  try {
    const { member, agent, org, token } = await createClient(transport).session.identity();
    const { name, role } = member;
    return {
      token,
      acts: { name, role, org: org.name, ...(agent !== null && { agent: agent.name }) },
      ids: { orgId: org.id, memberId: member.id, agentId: token.agentId },
    };
  } catch (failure) {
    // Every scope but the operators' covers the question.
    if (failure instanceof MusterError && failure.code === 'forbidden') return operator;
    throw failure;
  }
}

/** A token that was revoked still sees a list for so long, unless it calls something meanwhile; it can call nothing. */
const rememberedMillis = 30_000;
const mostRemembered = 10_000;

export class Identities {
  readonly #known = new LRUCache<string, Identity>({ max: mostRemembered, ttl: rememberedMillis });
  /** One question at a time about a token. */
  readonly #asked = new Map<string, Promise<Identity>>();

  /** What is remembered, where it is; the API is not asked. */
  known(token: string): Identity | undefined {
    return this.#known.get(token);
  }

  /** `token` as a digest: the secret itself is kept nowhere. */
  of(token: string, transport: Transport): Promise<Identity> {
    const asked = this.#asked.get(token);
    if (asked !== undefined) return asked;
    const identity = identify(transport)
      .then((answer) => {
        this.#known.set(token, answer);
        return answer;
      })
      .finally(() => this.#asked.delete(token));
    this.#asked.set(token, identity);
    return identity;
  }

  /** The API refused it. */
  forget(token: string): void {
    this.#known.delete(token);
  }
}

/** Whether the token may call the operation at all; on which records, the API decides. */
export function mayCall(operation: Operation, { token, acts }: Identity): boolean {
  if (tokenRefusal(operation, token) !== null) return false;
  const { access } = operation;
  return access.kind !== 'org' || (acts !== null && orgRank(acts.role) >= orgRank(access.role));
}

export function mayUse(tool: AnyTool, identity: Identity): boolean {
  if (tool.kind === 'operation') return mayCall(tool.operation, identity);
  if (tool.kind === 'macro') return tool.steps.every(({ operation }) => mayCall(operation, identity));
  return tool.tool.annotations?.readOnlyHint === true || scopeCovers(identity.token.scopes, 'write');
}

/** Equal for those who may use the same tools. */
export const rightsKey = ({ token: { scopes, agentId, projectIds, mayReadInbox }, acts }: Identity): string =>
  [
    scopes.toSorted().join(','),
    acts?.role ?? '',
    agentId === null ? '' : mayReadInbox ? 'agent with inbox' : 'agent',
    projectIds === null ? '' : 'bound',
  ].join(' ');
