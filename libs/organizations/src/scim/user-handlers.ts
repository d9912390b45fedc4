/** Handlers of the users of SCIM. A user is a member; `active: false` removes the member until the activation. */
import { withNextVersion } from '@muster/driver';
import { badRequest, orgRank, type OrgRole, roleTooLow, scimOperations } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { type Caller, handle } from '@muster/runtime';
import { addMemberToTeams } from '../data/invited-into.ts';
import {
  type InvitationRow,
  lockOpenInvitation,
  toInvitationEventSubject,
  updateInvitation,
} from '../data/invitations.ts';
import { toMemberEventSubject } from '../data/members.ts';
import { countFreeSeats, lockSeats } from '../data/seats.ts';
import { requireAllowedAddress } from '../operations/invitations/send-invitation.ts';
import { roleNeedsSeat } from '../rules/role-changes.ts';
import { readUser, readUserPatch, type UserAttributes } from './attributes.ts';
import { compileFilter } from './filter.ts';
import {
  activateUser,
  forgetDeactivatedDuplicates,
  forgetUser,
  getUser,
  insertUser,
  isAddressTaken,
  listUsers,
  lockUser,
  markDeactivated,
  scimMembers,
  type ScimUserRow,
  toScimUser,
  userFilterAttributes,
} from './users.ts';

const { users: contract } = scimOperations;

const maxNameLength = 120;

/** Returns the name to show: the one that was sent, or else the parts of the name; null without any. */
const shownNameOf = ({ displayName, formattedName, givenName, familyName }: UserAttributes): string | null =>
  (displayName ??
    formattedName ??
    [givenName, familyName].filter(Boolean).join(' ').slice(0, maxNameLength)) ||
  null;

const create = handle(contract.create, async ({ params, db, access, policy: askPolicy, emit, refuse }) => {
  const sent = readUser(params.resource);
  const { userName: email, active = true, externalId = null, givenName = null, familyName = null } = sent;
  if (email === undefined)
    throw badRequest('userName is missing.', [{ path: 'userName', message: 'is required' }]);
  const [{ at }, policy, seats, invitation, isTaken] = await Promise.all([
    access(),
    askPolicy(),
    lockSeats(db),
    lockOpenInvitation(db, email),
    isAddressTaken(db, email, null),
  ]);
  if (isTaken) throw refuse('already_exists');
  requireAllowedAddress(email, policy);
  const pending = invitation?.state === 'pending' ? invitation : undefined;
  // The invitation is revoked, which frees the seat that it reserves.
  const reservedSeats = pending !== undefined && roleNeedsSeat(pending.role) ? 1 : 0;
  if (active && countFreeSeats(seats) + reservedSeats < 1) throw refuse('seats_exhausted', { ...seats });

  if (pending !== undefined) {
    const revoked = withNextVersion<InvitationRow>(pending, { state: 'revoked' }, at);
    db.deferToCommit(updateInvitation(revoked));
    emit('invitation.revoked', toInvitationEventSubject(revoked), {});
  }
  const name = shownNameOf(sent) ?? email.slice(0, email.indexOf('@')).slice(0, maxNameLength);
  const columns = { email, name, external_id: externalId, given_name: givenName, family_name: familyName };
  const user = await insertUser(db, columns, active);
  if (active) emit('member.added', toMemberEventSubject(user), {});
  return { user: toScimUser({ ...user, groups: [] }) };
});

const get = handle(contract.get, async ({ params, db }) => ({
  user: toScimUser(await getUser(db, params.memberId)),
}));

const list = handle(contract.list, async ({ params, db }) =>
  listUsers(db, compileFilter(params.filter, userFilterAttributes), params),
);

/**
 * Throws 403 for the address of the owner and of the member who created the token. Whoever gives a member another
 * address chooses who can sign in as the member, so the token could become more than a token for SCIM.
 */
function requireAddressMayChange(callerRole: OrgRole, caller: Caller, user: ScimUserRow): void {
  if (user.role !== 'owner' && user.id !== caller.memberId) return;
  throw roleTooLow(
    { needed: 'owner', held: callerRole },
    'SCIM cannot change the address of the owner, or of the member who created its token.',
  );
}

/** Throws 403 if the caller may not change the access or the address of the user. */
function requireRightOver(callerRole: OrgRole, caller: Caller, user: ScimUserRow): void {
  if (callerRole === 'owner' || orgRank(user.role) < orgRank('admin') || user.id === caller.memberId) return;
  throw roleTooLow(
    { needed: 'owner', held: callerRole },
    'Only a token of the owner can do this to an admin.',
  );
}

const update = handle(contract.update, async (context) => {
  const { params, caller, db, access, policy: askPolicy, emit, refuse, reportNoChange } = context;
  const sent =
    params.operations === undefined ? readUser(params.resource ?? {}) : readUserPatch(params.operations);
  const { userName: email, active, externalId, givenName, familyName } = sent;
  const [{ at, actingRole }, policy, seats, current] = await Promise.all([
    access(),
    askPolicy(),
    // An activation takes a seat. The seats are locked before the member.
    active === true ? lockSeats(db) : undefined,
    lockUser(db, params.memberId),
  ]);
  const isActive = current.status === 'active';
  const hasNewAddress = email !== undefined && email.toLowerCase() !== current.email.toLowerCase();
  const isActivated = active === true && !isActive;
  const isDeactivated = active === false && isActive;
  if (hasNewAddress) requireAddressMayChange(actingRole, caller, current);
  if (hasNewAddress || isActivated) {
    requireRightOver(actingRole, caller, current);
    const address = email ?? current.email;
    if (await isAddressTaken(db, address, current.id)) throw refuse('already_exists');
    requireAllowedAddress(address, policy);
  }
  if (isActivated && seats !== undefined && roleNeedsSeat(current.role) && countFreeSeats(seats) < 1)
    throw refuse('seats_exhausted', { ...seats });

  const parts = {
    givenName: givenName === undefined ? current.given_name : givenName,
    familyName: familyName === undefined ? current.family_name : familyName,
  };
  const hasNewParts = parts.givenName !== current.given_name || parts.familyName !== current.family_name;
  const name = shownNameOf((sent.displayName ?? sent.formattedName) ? sent : hasNewParts ? parts : {});
  const { changed, fields } = scimMembers.change(
    db,
    current,
    { email, name: name ?? undefined, externalId, givenName, familyName },
    at,
  );
  if (fields.length > 0) emit('member.updated', toMemberEventSubject(changed), { fields });
  if (isActivated) {
    db.deferToCommit(activateUser(current.id));
    db.deferToCommit(addMemberToTeams(current.id, current.paused_team_ids ?? []));
    emit('member.added', toMemberEventSubject(changed), {});
  }
  if (isDeactivated) {
    db.deferToCommit(forgetDeactivatedDuplicates(current.id, changed.email));
    db.deferToCommit(markDeactivated(current.id));
    await context.perform(organizationsRegistry.members.removeMember, { memberId: current.id });
  }
  const hasNewAccess = isActivated || isDeactivated;
  if (fields.length === 0 && !hasNewAccess) reportNoChange();
  const user = toScimUser(changed);
  return { user: hasNewAccess ? { ...user, active: isActivated, updatedAt: at } : user };
});

const deleteUser = handle(contract.delete, async ({ params, db, perform }) => {
  const user = await lockUser(db, params.memberId);
  db.deferToCommit(forgetUser(user.id));
  if (user.status === 'active')
    await perform(organizationsRegistry.members.removeMember, { memberId: user.id });
  return { deleted: true as const };
});

export const users = { create, get, list, update, delete: deleteUser };
