/**
 * The result of the check whether a token may create another one. The new token must not exceed the rights of
 * the first one or of the member's role.
 */
import { type GivenScope, orgRank, type OrgRole, type Scope, scopeCovers } from '@muster/registry';

export type TokenRuling =
  | { readonly kind: 'allowed' }
  /** The calling token has a smaller scope. */
  | { readonly kind: 'scope'; readonly needed: GivenScope }
  /** The role of the member to whom the token will belong does not allow the scope. */
  | { readonly kind: 'role' };

/**
 * Answers whether a token with the scopes `by` may create a token with the scopes `wanted` for a member of
 * this role.
 */
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
