import { roleTooLow } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toMemberEventSubject, lockMember, members, releaseHoldingsOfMember } from '../../data/members.ts';
import { checkMemberRemoval } from '../../rules/role-changes.ts';

export const removeMember = handle(
  organizationsRegistry.members.removeMember,
  async ({ params, db, access, emit, refuse }) => {
    const [member, { at, actingRole }] = await Promise.all([lockMember(db, params.memberId), access()]);
    const ruling = checkMemberRemoval(actingRole, member.role);
    if (ruling === 'owner_required') throw refuse('owner_required');
    if (ruling === 'owner_only')
      throw roleTooLow({ needed: 'owner', held: actingRole }, 'Only the owner can remove an admin.');

    members.save(db, member, { status: 'removed' }, at);
    db.deferToCommit(releaseHoldingsOfMember(member.id));
    emit('member.removed', toMemberEventSubject(member), {});
    return { deleted: true as const };
  },
);
