import { registry } from '@muster/registry';
import { forbidden, handle } from '@muster/runtime';
import { aboutMember, changedMember, lockMember, setMember, toMember } from '../../data/members.ts';
import { freeSeats, lockSeats } from '../../data/seats.ts';
import { holdsSeat, rulingOnRole } from '../../rules/role-changes.ts';

export const setRole = handle(
  registry.members.setRole,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { memberId, role } = params;
    const { orgId } = caller;
    const [seats, member, { at, orgRole }] = await Promise.all([
      // Before the member's row, as everywhere; whether a seat is needed is known only with that.
      holdsSeat(role) ? lockSeats(db, orgId) : undefined,
      lockMember(db, orgId, memberId),
      access(),
    ]);
    const ruling = rulingOnRole(orgRole, member.role, role);
    if (ruling === 'owner_required') throw refuse('owner_required');
    if (ruling === 'owner_only') throw forbidden('role', 'Only the owner makes or unmakes an admin.');
    if (ruling === 'unchanged') return { member: toMember(member) };
    if (ruling === 'needs_seat' && seats !== undefined && freeSeats(seats) < 1) {
      throw refuse('seats_exhausted', { ...seats });
    }

    const changed = changedMember(member, { role }, at);
    db.later(setMember(orgId, changed));
    emit('member.roleChanged', aboutMember(member), { from: member.role, to: role });
    return { member: toMember(changed) };
  },
);
