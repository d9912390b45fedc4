/** Whose tokens and agents a caller reaches: their own, and as an admin everybody's in the organization. */
import { of, type Part, sql } from '@muster/driver';
import { orgRank, type OrgRole, roleTooLow, scopeCovers } from '@muster/registry';
import { type Caller } from '@muster/runtime';

/** Whether the token reaches beyond its member's own, where that member is an admin. */
const isWide = ({ scopes, projectIds }: Caller): boolean =>
  scopeCovers(scopes, 'admin') && projectIds === null;

/** Whether the caller acts as an admin of the organization; `actingRole` is the door's answer. */
export const isAdmin = (caller: Caller, actingRole: OrgRole): boolean =>
  isWide(caller) && orgRank(actingRole) >= orgRank('admin');

/** The rows whose `member_id` the caller reaches, as a condition on `alias`. */
export function reachedBy(caller: Caller, alias: string): Part {
  const own = sql.part`${sql.word(alias)}.member_id = ${caller.memberId}`;
  if (!isWide(caller)) return own;
  return sql.part`(${own} or (select m.role in ('admin', 'owner') from members m where ${of('m')} and m.id = ${caller.memberId}))`;
}

/** 403 where a caller asks for another member's and is no admin. */
export function requireReach(caller: Caller, actingRole: OrgRole, memberId: string | undefined): void {
  if (memberId === undefined || memberId === caller.memberId || isAdmin(caller, actingRole)) return;
  throw roleTooLow({ needed: 'admin', held: actingRole }, 'Those of another member are for admins.');
}
