/** Access to tokens and agents: members reach their own, and admins those of all members. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { orgRank, type OrgRole, roleTooLow, scopeCovers } from '@muster/contract';
import { type Caller } from '@muster/runtime';

/** Returns whether the token may reach data of other members, if its member is an admin. */
const canReachOtherMembers = ({ scopes, projectIds }: Caller): boolean =>
  scopeCovers(scopes, 'admin') && projectIds === null;

/**
 * Returns whether the caller acts as an admin of the organization. `actingRole` comes from the authorization
 * check.
 */
export const isAdmin = (caller: Caller, actingRole: OrgRole): boolean =>
  canReachOtherMembers(caller) && orgRank(actingRole) >= orgRank('admin');

/** Restricts a query to rows whose `member_id` the caller reaches, as a condition on `alias`. */
export function reachableRowsCondition(caller: Caller, alias: string): Part {
  const own = sql.part`${sql.word(alias)}.member_id = ${caller.memberId}`;
  if (!canReachOtherMembers(caller)) return own;
  return sql.part`(${own} or (select m.role in ('admin', 'owner') from members m where ${orgFilter('m')} and m.id = ${caller.memberId}))`;
}

/** Throws 403 if a caller who is not an admin asks for the data of another member. */
export function requireReachToMember(
  caller: Caller,
  actingRole: OrgRole,
  memberId: string | undefined,
): void {
  if (memberId === undefined || memberId === caller.memberId || isAdmin(caller, actingRole)) return;
  throw roleTooLow(
    { needed: 'admin', held: actingRole },
    'Only admins can list what belongs to other members.',
  );
}
