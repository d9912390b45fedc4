import { registry, roleTooLow } from '@muster/registry';
import { handle, notFound } from '@muster/runtime';
import { endUnprovenSessions } from '../../data/identity-providers.ts';
import { lockMembers, members, toMember } from '../../data/members.ts';
import { aboutOrg, getOrg } from '../../data/orgs.ts';
import { holdsSeat } from '../../rules/role-changes.ts';

export const transferOwnership = handle(
  registry.orgs.transferOwnership,
  async ({ params, caller, db, access, emit, refuse }) => {
    const [locked, org, { at }] = await Promise.all([
      lockMembers(db, [caller.memberId, params.memberId]),
      getOrg(db),
      access(),
    ]);
    const owner = locked.get(caller.memberId);
    const heir = locked.get(params.memberId);
    // The door looked before the wait for the lock, and meanwhile it may have been given to another.
    if (owner?.role !== 'owner') throw roleTooLow({ needed: 'owner', held: owner?.role ?? 'viewer' });
    if (heir === undefined) throw notFound();
    if (heir.id === owner.id) return { org, previousOwner: toMember(owner), newOwner: toMember(owner) };
    if (!holdsSeat(heir.role)) throw refuse('seat_required');

    // In this order: the index allows no second owner, not for a moment.
    const previousOwner = members.save(db, owner, { role: 'admin' }, at);
    const newOwner = members.save(db, heir, { role: 'owner' }, at);
    // The policy asks nothing of an owner's sessions.
    db.later(endUnprovenSessions());
    emit('org.ownershipTransferred', aboutOrg(org), { fromMemberId: owner.id, toMemberId: heir.id });
    return { org, previousOwner: toMember(previousOwner), newOwner: toMember(newOwner) };
  },
);
