/** Handlers of the groups of SCIM. A group is a team. */
import { sql } from '@muster/driver';
import { badRequest, type ScimGroup, scimOperations } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle, type HandlerContext } from '@muster/runtime';
import { toTeamEventSubject } from '../data/teams.ts';
import { type GroupAttributes, readGroup, readGroupPatch } from './attributes.ts';
import { compileFilter } from './filter.ts';
import {
  groupFilterAttributes,
  listGroups,
  listMembersOfTeams,
  planMembership,
  scimTeams,
  type ScimTeamRow,
  toScimGroup,
  writeMembership,
} from './groups.ts';

const { groups: contract } = scimOperations;

type ChangeContext = Pick<HandlerContext<typeof contract.update>, 'db' | 'emit'>;

/** Changes the members of a locked team. Returns the users who were named as its members. */
async function changeMembers(
  { db, emit }: ChangeContext,
  team: ScimTeamRow,
  { members }: GroupAttributes,
): Promise<{ users: ScimGroup['members']; isChanged: boolean }> {
  const diff = await planMembership(db, team.id, members);
  writeMembership(db, team.id, members, diff);
  const subject = toTeamEventSubject(team);
  for (const { id, is_active: isActive } of diff.joining)
    if (isActive) emit('team.memberAdded', subject, { memberId: id, role: 'member' });
  for (const memberId of diff.leaving) emit('team.memberRemoved', subject, { memberId });
  const users = diff.users.map(({ id, name }) => ({ id, name }));
  return { users, isChanged: diff.joining.length > 0 || diff.leaving.length > 0 };
}

const create = handle(contract.create, async (context) => {
  const { params, db, access, emit } = context;
  const sent = readGroup(params.resource);
  const { displayName: name, externalId } = sent;
  if (name === undefined)
    throw badRequest('displayName is missing.', [{ path: 'displayName', message: 'is required' }]);
  const team = scimTeams.make({ name, externalId }, (await access()).at);
  db.deferToCommit(scimTeams.insert(team));
  emit('team.created', toTeamEventSubject(team), {});
  const { users } = await changeMembers(context, team, sent);
  return { group: toScimGroup(team, users) };
});

const get = handle(contract.get, async ({ params, db }) => {
  const { teamId, includeMembers } = params;
  const [team, members] = await Promise.all([
    scimTeams.get(db, teamId),
    includeMembers ? listMembersOfTeams(db, sql.part`${teamId}::uuid`) : null,
  ]);
  return { group: toScimGroup(team, members && [...(members.get(teamId) ?? [])]) };
});

const list = handle(contract.list, async ({ params, db }) =>
  listGroups(db, compileFilter(params.filter, groupFilterAttributes), params),
);

const update = handle(contract.update, async (context) => {
  const { params, db, access, emit, reportNoChange } = context;
  const { resource = {}, operations } = params;
  const sent = operations === undefined ? readGroup(resource) : readGroupPatch(operations);
  const [team, { at }] = await Promise.all([scimTeams.lock(db, params.teamId), access()]);
  const wanted = { name: sent.displayName, externalId: sent.externalId };
  const { changed, fields } = scimTeams.change(db, team, wanted, at);
  if (fields.length > 0) emit('team.updated', toTeamEventSubject(changed), { fields });
  const { users, isChanged } = await changeMembers(context, changed, sent);
  if (!isChanged && fields.length === 0) reportNoChange();
  return { group: toScimGroup(changed, operations === undefined ? users : null) };
});

const deleteGroup = handle(contract.delete, async ({ params, perform }) =>
  perform(organizationsRegistry.teams.delete, params),
);

export const groups = { create, get, list, update, delete: deleteGroup };
