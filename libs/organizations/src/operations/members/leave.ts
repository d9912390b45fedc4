import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import {
  toMemberEventSubject,
  lockCallerMembership,
  members,
  releaseHoldingsOfMember,
} from '../../data/members.ts';

export const leave = handle(
  organizationsRegistry.members.leave,
  async ({ caller, db, access, emit, refuse }) => {
    const [member, { at }] = await Promise.all([lockCallerMembership(db, caller), access()]);
    if (member.role === 'owner') throw refuse('owner_required');

    members.save(db, member, { status: 'removed' }, at);
    db.deferToCommit(releaseHoldingsOfMember(member.id));
    emit('member.departed', toMemberEventSubject(member), {});
    return { deleted: true as const };
  },
);
