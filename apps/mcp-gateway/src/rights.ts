/** Who a token is, and which tools that leaves; remembered briefly, for lists alone: calls are decided by the API. */
import { createClient, MusterError, type Transport } from '@muster/client';
import { type Operation, orgRank, type OrgRole, type Scope, scopeCovers } from '@muster/registry';
import { type AnyTool } from './toolbox.ts';

/** What of a token's identity decides what is shown to it. */
export interface Identity {
  readonly scopes: readonly Scope[];
  /** Null: an operator's token, which stands outside of organizations and may not even ask who it is. */
  readonly acts: {
    readonly name: string;
    readonly org: string;
    readonly role: OrgRole;
    readonly isAgent: boolean;
  } | null;
  /** For those who follow a call through the logs. */
  readonly ids: { readonly orgId: string; readonly memberId: string; readonly agentId: string | null } | null;
}

const operator: Identity = { scopes: ['platform'], acts: null, ids: null };

async function identify(transport: Transport): Promise<Identity> {
  try {
    const { member, org, token } = await createClient(transport).session.identity();
    const { name, role } = member;
    return {
      scopes: token.scopes,
      acts: { name, role, org: org.name, isAgent: token.agentId !== null },
      ids: { orgId: org.id, memberId: member.id, agentId: token.agentId },
    };
  } catch (failure) {
    // Every scope but the operators' covers the question.
    if (failure instanceof MusterError && failure.code === 'forbidden') return operator;
    throw failure;
  }
}

/** A token that was revoked still sees a list for so long; it can call nothing. */
const rememberedMillis = 30_000;
const mostRemembered = 10_000;

export class Identities {
  readonly #known = new Map<string, { readonly identity: Promise<Identity>; readonly until: number }>();
  readonly #answered = new WeakMap<Promise<Identity>, Identity>();

  /** What is remembered, where it is; nobody is asked. */
  known(token: string): Identity | undefined {
    const known = this.#known.get(token);
    return known && this.#answered.get(known.identity);
  }

  /** `token` as a digest: the secret itself is kept nowhere. */
  of(token: string, transport: Transport): Promise<Identity> {
    const now = performance.now();
    const known = this.#known.get(token);
    if (known !== undefined && known.until > now) return known.identity;
    const identity = identify(transport);
    identity.then(
      (answer) => this.#answered.set(identity, answer),
      () => this.#known.delete(token),
    );
    if (this.#known.size >= mostRemembered) this.#known.clear();
    this.#known.set(token, { identity, until: now + rememberedMillis });
    return identity;
  }
}

/** Whether the token may call the operation at all; on which records, the API decides. */
export function mayCall({ access, scope }: Operation, { scopes, acts }: Identity): boolean {
  if (!scopeCovers(scopes, scope)) return false;
  return access.kind !== 'org' || (acts !== null && orgRank(acts.role) >= orgRank(access.role));
}

export function mayUse(tool: AnyTool, identity: Identity): boolean {
  if (tool.kind === 'operation') return mayCall(tool.operation, identity);
  if (tool.kind === 'macro') return tool.steps.every(({ operation }) => mayCall(operation, identity));
  return tool.tool.annotations?.readOnlyHint === true || scopeCovers(identity.scopes, 'write');
}

/** Equal for those who may use the same tools. */
export const rightsKey = ({ scopes, acts }: Identity): string =>
  `${scopes.toSorted().join(',')} ${acts?.role ?? ''}`;
