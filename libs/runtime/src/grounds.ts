/** What lets a caller do an operation besides the role: the token, and grounds, which the contract names and a handler finds. */
import {
  forbidden,
  type Ground,
  grounds,
  groundsInWords,
  type Operation,
  orgRank,
  type OrgRole,
  proofMinutes,
  roleTooLow,
  scopeCovers,
  scopeTooSmall,
  tokenRefusal,
} from '@muster/registry';
import { type Caller } from './handle.ts';
import { type AuthenticatedToken } from './tokens.ts';

/** 403 where none of the grounds holds: those that the handler found, and what the role of an admin gives. */
export function requireOneOf(
  wanted: readonly Ground[],
  held: readonly (Ground | false)[],
  orgRole: OrgRole,
  { scopes }: Caller,
): void {
  if (wanted.some((ground) => ground !== 'admin' && held.includes(ground))) return;
  const mayBeAdmin = wanted.includes('admin') && orgRank(orgRole) >= orgRank('admin');
  // guard: the scope of an admin
  if (mayBeAdmin && scopeCovers(scopes, 'admin')) return;
  if (mayBeAdmin) {
    const message = "The token's scope is too small; as an admin this needs admin.";
    throw scopeTooSmall({ needed: 'admin', held: scopes }, message);
  }
  const [first = 'admin'] = wanted.filter((ground) => ground !== 'admin');
  const { reason } = grounds[first];
  const message = `This is for ${groundsInWords(wanted)}.`;
  throw reason === 'role'
    ? roleTooLow({ needed: wanted, held: orgRole }, message)
    : forbidden(reason, message, { needed: wanted });
}

/**
 * 403 where the scope is too small, the token is an agent's or bound to projects and this is not for such, or a session has to
 * prove anew whose it is.
 */
export function requireToken(operation: Operation, { identity }: AuthenticatedToken): void {
  const reason = tokenRefusal(operation, identity);
  if (reason === 'scope') throw scopeTooSmall({ needed: operation.scope, held: identity.scopes });
  if (reason !== null) throw forbidden(reason);
  if (operation.needsProof) requireProof(identity.session);
}

/** 403 where a session has not proven lately whose it is; behind a token there is no one who could. */
function requireProof(session: AuthenticatedToken['identity']['session']): void {
  if (session === null) return;
  if (session.provenAt > performance.now() - proofMinutes * 60_000) return;
  throw forbidden('proof_needed', undefined, { at: '/sign-in?again', minutes: proofMinutes });
}
