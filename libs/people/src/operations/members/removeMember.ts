import { registry } from '@muster/registry';
import { forbidden, handle } from '@muster/runtime';
import { aboutMember, changedMember, lockMember, releaseMember, setMember } from '../../data/members.ts';
import { rulingOnRemoval } from '../../rules/role-changes.ts';

export const removeMember = handle(
  registry.members.removeMember,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { orgId } = caller;
    const [member, { at, orgRole }] = await Promise.all([lockMember(db, orgId, params.memberId), access()]);
    const ruling = rulingOnRemoval(orgRole, member.role);
    if (ruling === 'owner_required') throw refuse('owner_required');
    if (ruling === 'owner_only') throw forbidden('role', 'Only the owner removes an admin.');

    db.later(setMember(orgId, changedMember(member, { status: 'removed' }, at)));
    db.later(releaseMember(orgId, member.id));
    emit('member.removed', aboutMember(member), {});
    return { deleted: true as const };
  },
);
