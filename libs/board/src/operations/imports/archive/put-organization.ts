/** Imports the agents and teams of an archive, and says which records of the organization an import may write. */
import { type AgentRow, type ImportedTeam } from '@muster/organizations';
import { maxAgentsPerMember } from '@muster/contract';
import { type OrganizationRecord } from '../../../data/import-organization.ts';
import { importItemKey } from '../../../data/imports.ts';
import { createIdLike } from '../../../rules/archive-ids.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  keptLine,
  type LineResult,
  recordImportedItem,
} from './archive-batch.ts';

/** The records of the organization that could be the counterparts of lines, by name. */
export interface OrganizationRecords {
  readonly teams: Map<string, OrganizationRecord>;
  readonly prompts: Map<string, OrganizationRecord>;
  readonly views: Map<string, OrganizationRecord>;
}

/**
 * Returns the result for a line whose record the organization has already: another import created it, or it has the
 * same name. Undefined if there is none.
 */
export function findOrganizationResult(
  batch: ArchiveBatch,
  kind: 'team' | 'prompt' | 'view',
  line: { readonly id: string },
  existing: OrganizationRecord | undefined,
): LineResult | undefined {
  if (existing === undefined) return undefined;
  recordImportedItem(batch, kind, line, existing.id, { isCreated: false });
  return existing.archive_ids.includes(line.id)
    ? { outcome: 'unchanged', recordId: existing.id }
    : keptLine(`The organization has a ${kind} with this name already. It stays as it is.`, existing.id);
}

export const onlyAdmins = (things: string): LineResult => ({
  outcome: 'kept',
  issues: [
    {
      path: 'projectId',
      message: `Only admins, with a token of scope admin for all projects, can import ${things} of the organization.`,
    },
  ],
});

/**
 * An agent is the one of the same member with the same slug or, if there is none, the same name. Admins also import
 * agents that members do not have. Such an agent has no token, so it can do nothing until its member creates one.
 */
export function putAgent(batch: ArchiveBatch, line: ArchiveLine<'agents'>): LineResult {
  const { people, writes, writesForOrganization } = batch;
  const { name, slug, createdAt, retiredAt } = line;
  const noted = findRecordId(batch, 'agent', line.id);
  const memberId = findRecordId(batch, 'member', line.memberId);
  const own = people.agents.filter((one) => one.member_id === memberId);
  const matches = [
    ...people.agents.filter(({ id }) => id === noted),
    ...own.filter((one) => one.slug === slug),
    ...own.filter((one) => one.name === name),
  ];
  // An active agent is not imported as a retired one.
  const agent = matches.find((one) => one.retired_at === null || retiredAt !== null) ?? matches[0];
  if (agent !== undefined && (agent.retired_at === null || retiredAt !== null)) {
    if (!batch.found.has(importItemKey('agent', line.id)))
      recordImportedItem(batch, 'agent', line, agent.id, { isCreated: false });
    return { outcome: 'unchanged', recordId: agent.id };
  }
  if (agent !== undefined || memberId === undefined || !writesForOrganization)
    return keptLine('Its member has no agent with this slug. Only the name is kept.');
  const count = people.agentCounts.get(memberId) ?? 0;
  if (retiredAt === null && count >= maxAgentsPerMember)
    return keptLine(`Its member has ${maxAgentsPerMember} agents already. Only the name is kept.`);
  const row: AgentRow = {
    ...{ id: createIdLike(line.id), member_id: memberId, name, slug },
    ...{ created_at: createdAt, retired_at: retiredAt },
  };
  if (retiredAt === null) people.agentCounts.set(memberId, count + 1);
  people.agents.push(row);
  if (retiredAt === null && people.participants.has(memberId)) people.participants.add(row.id);
  writes.agents.push(row);
  recordImportedItem(batch, 'agent', line, row.id);
  return { outcome: 'created', recordId: row.id };
}

/** Imports a team with those of its members who are matched. A team of the same name stays as it is. */
export function putTeam(
  batch: ArchiveBatch,
  { teams }: OrganizationRecords,
  line: ArchiveLine<'teams'>,
): LineResult {
  if (!batch.writesForOrganization) return onlyAdmins('teams');
  const earlier = findEarlierResult(batch, 'team', line);
  if (earlier !== undefined) return earlier;
  const { id, name, description, createdAt, updatedAt, version } = line;
  const existing = findOrganizationResult(batch, 'team', line, teams.get(name.toLowerCase()));
  if (existing !== undefined) return existing;
  const members = line.members.flatMap(({ memberId, ...role }) => {
    const found = findRecordId(batch, 'member', memberId);
    return found === undefined ? [] : { memberId: found, ...role };
  });
  const row: ImportedTeam = {
    ...{ id: createIdLike(id), name, description: description ?? '', version, members },
    ...{ created_at: createdAt, updated_at: updatedAt },
  };
  teams.set(name.toLowerCase(), { id: row.id, name, archive_ids: [id] });
  batch.writes.teams.push(row);
  recordImportedItem(batch, 'team', line, row.id, { version });
  const isComplete = members.length === line.members.length;
  return {
    outcome: 'created',
    recordId: row.id,
    issues: isComplete
      ? []
      : [{ path: 'members', message: 'Members of the team who are not matched are left out.' }],
  };
}
