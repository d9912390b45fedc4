import { roleTooLow } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toMemberEventSubject, lockMember, members, toMember } from '../../data/members.ts';
import { removeTeamLeadRoles } from '../../data/team-members.ts';
import { countFreeSeats, lockSeats } from '../../data/seats.ts';
import { roleNeedsSeat, checkRoleChange } from '../../rules/role-changes.ts';

export const setRole = handle(
  organizationsRegistry.members.setRole,
  async ({ params, db, access, emit, refuse }) => {
    const { memberId, role } = params;
    const [seats, member, { at, actingRole }] = await Promise.all([
      // The lock on the seats must come before the lock on the member. Only the member's row shows whether a
      // seat is needed.
      roleNeedsSeat(role) ? lockSeats(db) : undefined,
      lockMember(db, memberId),
      access(),
    ]);
    const ruling = checkRoleChange(actingRole, member.role, role);
    if (ruling === 'owner_required') throw refuse('owner_required');
    if (ruling === 'owner_only')
      throw roleTooLow(
        { needed: 'owner', held: actingRole },
        'Only the owner can make a member an admin or give an admin another role.',
      );
    if (ruling === 'unchanged') return { member: toMember(member) };
    if (ruling === 'needs_seat' && seats !== undefined && countFreeSeats(seats) < 1)
      throw refuse('seats_exhausted', { ...seats });

    const changed = members.save(db, member, { role }, at);
    if (!roleNeedsSeat(role)) db.deferToCommit(removeTeamLeadRoles(memberId));
    emit('member.roleChanged', toMemberEventSubject(member), { from: member.role, to: role });
    return { member: toMember(changed) };
  },
);
