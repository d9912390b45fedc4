/** What a token may be made with another: never more than that one does, nor than the member's role gives. */
import { type GivenScope, orgRank, type OrgRole, type Scope, scopeCovers } from '@muster/registry';

export type TokenRuling =
  | { readonly kind: 'allowed' }
  /** The token that makes it has a smaller scope. */
  | { readonly kind: 'scope'; readonly needed: GivenScope }
  /** The role of the member whose token it is gives no such scope. */
  | { readonly kind: 'role' };

/** Whether a token of these scopes may be made with one of the scopes `by`, for a member of that role. */
export function rulingOnToken(
  by: readonly Scope[],
  wanted: readonly GivenScope[],
  role: OrgRole,
): TokenRuling {
  const beyond = wanted.find((scope) => !scopeCovers(by, scope));
  if (beyond !== undefined) return { kind: 'scope', needed: beyond };
  if (wanted.includes('admin') && orgRank(role) < orgRank('admin')) return { kind: 'role' };
  return { kind: 'allowed' };
}
