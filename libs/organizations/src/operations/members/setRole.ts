import { registry, roleTooLow } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutMember, lockMember, members, toMember } from '../../data/members.ts';
import { leadNoTeam } from '../../data/team-members.ts';
import { freeSeats, lockSeats } from '../../data/seats.ts';
import { holdsSeat, rulingOnRole } from '../../rules/role-changes.ts';

export const setRole = handle(registry.members.setRole, async ({ params, db, access, emit, refuse }) => {
  const { memberId, role } = params;
  const [seats, member, { at, actingRole }] = await Promise.all([
    // The lock on the seats must come before the lock on the member. Only the member's row shows whether a
    // seat is needed.
    holdsSeat(role) ? lockSeats(db) : undefined,
    lockMember(db, memberId),
    access(),
  ]);
  const ruling = rulingOnRole(actingRole, member.role, role);
  if (ruling === 'owner_required') throw refuse('owner_required');
  if (ruling === 'owner_only')
    throw roleTooLow(
      { needed: 'owner', held: actingRole },
      'Only the owner can make a member an admin or give an admin another role.',
    );
  if (ruling === 'unchanged') return { member: toMember(member) };
  if (ruling === 'needs_seat' && seats !== undefined && freeSeats(seats) < 1) {
    throw refuse('seats_exhausted', { ...seats });
  }

  const changed = members.save(db, member, { role }, at);
  if (!holdsSeat(role)) db.later(leadNoTeam(memberId));
  emit('member.roleChanged', aboutMember(member), { from: member.role, to: role });
  return { member: toMember(changed) };
});
