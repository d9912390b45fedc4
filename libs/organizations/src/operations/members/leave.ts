import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutMember, lockSelf, members, releaseMember } from '../../data/members.ts';

export const leave = handle(registry.members.leave, async ({ caller, db, access, emit, refuse }) => {
  const [member, { at }] = await Promise.all([lockSelf(db, caller), access()]);
  if (member.role === 'owner') throw refuse('owner_required');

  members.save(db, member, { status: 'removed' }, at);
  db.later(releaseMember(member.id));
  emit('member.departed', aboutMember(member), {});
  return { deleted: true as const };
});
