/**
 * Checks two conditions that a role alone does not meet. One is the caller's token. The other are grounds,
 * which the contract names: relations to the record, such as being its author. A handler determines which
 * grounds the caller meets.
 */
import {
  forbidden,
  type Ground,
  groundDescriptions,
  describePermittedCallers,
  type Operation,
  orgRank,
  type OrgRole,
  identityProofValidMinutes,
  roleTooLow,
  scopeCovers,
  scopeTooSmall,
  tokenRefusal,
} from '@muster/contract';
import { type Caller } from './handle.ts';
import { type AuthenticatedToken } from './tokens.ts';

/**
 * Throws 403 unless the caller meets one of the wanted grounds. The handler states in `held` which grounds
 * the caller meets. An admin meets the ground `admin` by role, if the token has the scope `admin`.
 */
export function requireOneOfGrounds(
  acceptedGrounds: readonly Ground[],
  heldGrounds: readonly (Ground | false)[],
  orgRole: OrgRole,
  { scopes }: Caller,
): void {
  if (acceptedGrounds.some((ground) => ground !== 'admin' && heldGrounds.includes(ground))) return;
  const mayBeAdmin = acceptedGrounds.includes('admin') && orgRank(orgRole) >= orgRank('admin');
  // guard: the scope of an admin
  if (mayBeAdmin && scopeCovers(scopes, 'admin')) return;
  if (mayBeAdmin) {
    const message = 'Admins also need a token with the scope admin for this.';
    throw scopeTooSmall({ needed: 'admin', held: scopes }, message);
  }
  const [first = 'admin'] = acceptedGrounds.filter((ground) => ground !== 'admin');
  const { reason } = groundDescriptions[first];
  const message = `Only ${describePermittedCallers(acceptedGrounds)} may do this.`;
  throw reason === 'role'
    ? roleTooLow({ needed: acceptedGrounds, held: orgRole }, message)
    : forbidden(reason, message, { needed: acceptedGrounds });
}

/**
 * Throws 403 if the scope is too small, or if the operation excludes tokens of agents or bound tokens and
 * this is one. Also throws 403 if a session must prove its identity again.
 */
export function requireToken(operation: Operation, { identity }: AuthenticatedToken): void {
  const reason = tokenRefusal(operation, identity);
  if (reason === 'scope') throw scopeTooSmall({ needed: operation.scope, held: identity.scopes });
  if (reason !== null) throw forbidden(reason);
  if (operation.needsProof) requireRecentAuthentication(identity.session);
}

/**
 * Throws 403 if the session has no recent proof of identity. A plain token passes, since no person is there
 * to give one.
 */
function requireRecentAuthentication(session: AuthenticatedToken['identity']['session']): void {
  if (session === null) return;
  if (session.provenAt > performance.now() - identityProofValidMinutes * 60_000) return;
  throw forbidden('proof_needed', undefined, { at: '/sign-in?again', minutes: identityProofValidMinutes });
}
