/** Whoever claims work for itself is a member until it has it. */
import { type Db, of, sql } from '@muster/database';
import { unauthorized } from '@muster/registry';
import { type Caller } from '@muster/runtime';

/**
 * Locks the caller's membership before anything else, as a removal does. Which frees what its member holds then: what is
 * claimed at the same moment is seen by it, or is claimed by nobody.
 */
export async function lockClaimant(db: Db, { memberId }: Caller): Promise<void> {
  const member = await db.find(
    sql`select id from members where ${of()} and id = ${memberId} and status = 'active'
      /*guard: a claimant stays a member*/for share/*end*/`,
  );
  if (member === undefined) throw unauthorized();
}
