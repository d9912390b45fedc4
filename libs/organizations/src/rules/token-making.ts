/**
 * The result of the check whether a token may create another one. The new token must not exceed the rights of
 * the first one or of the member's role.
 */
import { type GrantableScope, orgRank, type OrgRole, type Scope, scopeCovers } from '@muster/contract';

export type TokenCreationDecision =
  | { readonly kind: 'allowed' }
  /** The calling token has a smaller scope. */
  | { readonly kind: 'scope'; readonly needed: GrantableScope }
  /** The role of the member to whom the token will belong does not allow the scope. */
  | { readonly kind: 'role' };

/**
 * Returns whether a token with the scopes `by` may create a token with the scopes `wanted` for a member of
 * this role.
 */
export function checkTokenCreation(
  callerScopes: readonly Scope[],
  requestedScopes: readonly GrantableScope[],
  role: OrgRole,
): TokenCreationDecision {
  // A token for an identity provider is created with the rights of an admin.
  const needed = requestedScopes.map((scope) => (scope === 'scim' ? 'admin' : scope));
  const beyond = needed.find((scope) => !scopeCovers(callerScopes, scope));
  if (beyond !== undefined) return { kind: 'scope', needed: beyond };
  if (needed.includes('admin') && orgRank(role) < orgRank('admin')) return { kind: 'role' };
  return { kind: 'allowed' };
}
