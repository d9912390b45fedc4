import { orgFilter, type Pool, sql } from '@muster/driver';
import { EmailAddress, type Member, MemberName, OrgSlug, refusal } from '@muster/contract';
import { operatorTrailStatement } from '@muster/tenancy';
import { z } from 'zod';
import { members, type MemberRow, insertMember, toMember } from '../data/members.ts';
import { countFreeSeats, lockSeats } from '../data/seats.ts';
import { roleNeedsSeat } from '../rules/role-changes.ts';
import { getOrgBySlug, runAsOperatorForOrganization, parseInput } from './operate.ts';

const NewMember = z.strictObject({
  org: OrgSlug,
  email: EmailAddress,
  name: MemberName,
  // The role owner is missing, because the only owner is created with the organization.
  role: z.enum(['admin', 'member', 'viewer']),
});

/** Adds a member. All roles except viewers need a seat, and the call is refused if none is free. */
export function addMember(pool: Pool, input: z.input<typeof NewMember>): Promise<{ member: Member }> {
  return runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const { org: slug, ...newMember } = parseInput(NewMember, input);
    const org = await getOrgBySlug(db, slug);
    const own = within(org.id);
    // The lock is held until COMMIT. Other calls that add a member wait for it, so that seats and handles are
    // assigned only once.
    const seats = await lockSeats(own);
    if (roleNeedsSeat(newMember.role) && countFreeSeats(seats) <= 0)
      throw refusal('seats_exhausted', { ...seats });
    const member = await insertMember(own, newMember);
    own.deferToCommit(operatorTrailStatement('operators.addMember', member.email));
    return { member };
  });
}

/** Lists the active members of an organization, by name. */
export function listMembers(pool: Pool, input: { readonly org: string }): Promise<Member[]> {
  return runAsOperatorForOrganization(pool, input.org, async (db, within) => {
    const org = await getOrgBySlug(db, input.org);
    const rows = await within(org.id).all(
      sql<MemberRow>`select ${members.list} from members m where ${orgFilter('m')} and m.status = 'active' order by m.name, m.id`,
    );
    return rows.map(toMember);
  });
}
