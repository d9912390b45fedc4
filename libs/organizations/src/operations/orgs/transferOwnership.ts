import { roleTooLow } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, notFound } from '@muster/runtime';
import { endSessionsViolatingPolicy } from '../../data/identity-providers.ts';
import { lockMembers, members, toMember } from '../../data/members.ts';
import { toOrgEventSubject, getOrg } from '../../data/orgs.ts';
import { roleNeedsSeat } from '../../rules/role-changes.ts';

export const transferOwnership = handle(
  organizationsRegistry.orgs.transferOwnership,
  async ({ params, caller, db, access, emit, refuse }) => {
    const [locked, org, { at }] = await Promise.all([
      lockMembers(db, [caller.memberId, params.memberId]),
      getOrg(db),
      access(),
    ]);
    const owner = locked.get(caller.memberId);
    const heir = locked.get(params.memberId);
    // The authorization check ran before the wait for the lock. The ownership may have been transferred in
    // between.
    if (owner?.role !== 'owner') throw roleTooLow({ needed: 'owner', held: owner?.role ?? 'viewer' });
    if (heir === undefined) throw notFound();
    if (heir.id === owner.id) return { org, previousOwner: toMember(owner), newOwner: toMember(owner) };
    if (!roleNeedsSeat(heir.role)) throw refuse('seat_required');

    // The previous owner is saved first, because the unique index never allows two owners.
    const previousOwner = members.save(db, owner, { role: 'admin' }, at);
    const newOwner = members.save(db, heir, { role: 'owner' }, at);
    // The policy's requirements for sessions do not apply to the owner, but they do to the previous owner.
    db.deferToCommit(endSessionsViolatingPolicy());
    emit('org.ownershipTransferred', toOrgEventSubject(org), { fromMemberId: owner.id, toMemberId: heir.id });
    return { org, previousOwner: toMember(previousOwner), newOwner: toMember(newOwner) };
  },
);
