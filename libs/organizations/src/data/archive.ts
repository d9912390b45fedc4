/** Reads members, agents and teams for an export. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { type TeamRole } from '@muster/contract';
import {
  afterKeySql,
  type ArchiveReaders,
  type ArchiveSelection,
  createArchiveReader,
  isExportedProjectSql,
  isoTimeSql,
  keyTypes,
} from '@muster/tenancy';
import { type AgentRow, agents } from './agents.ts';
import { type MemberRow, members, toMember } from './members.ts';
import { type TeamRow, teams } from './teams.ts';

const { uuid } = keyTypes;

/**
 * Returns SQL that is true for the members `m` of an export. For a project, these are the active members with access
 * to it.
 */
function isExportedMemberSql(selection: ArchiveSelection): Part {
  if (selection.scope === 'org') return sql.part`true`;
  if (selection.scope === 'me') return sql.part`m.id = ${selection.memberId}::uuid`;
  return sql.part`m.status = 'active' and exists (select from projects p where ${orgFilter('p')}
    and ${isExportedProjectSql(selection)} and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)`;
}

interface TeamWithMembersRow extends TeamRow {
  readonly members: { memberId: string; role: TeamRole; addedAt: string }[];
}

export const readMembers = createArchiveReader({
  type: 'members',
  pageSize: 500,
  select: (selection, after, limit) => sql<MemberRow>`select ${members.list} from members m
      where ${orgFilter('m')} and m.created_at <= ${selection.startedAt}::timestamptz
        and ${isExportedMemberSql(selection)} and ${afterKeySql(sql.part`m.id`, after, [uuid])}
      order by m.id limit ${limit}`,
  keyOf: ({ id }) => [id],
  toRecord: toMember,
});

export const readAgents = createArchiveReader({
  type: 'agents',
  pageSize: 500,
  select: (selection, after, limit) => sql<AgentRow>`select ${agents.list}
      from agents a join members m on ${orgFilter('m')} and m.id = a.member_id
      where ${orgFilter('a')} and a.created_at <= ${selection.startedAt}::timestamptz
        and ${isExportedMemberSql(selection)} and ${afterKeySql(sql.part`a.id`, after, [uuid])}
      order by a.id limit ${limit}`,
  keyOf: ({ id }) => [id],
  toRecord: agents.shown,
});

export const readTeams = createArchiveReader({
  type: 'teams',
  pageSize: 50,
  select: (selection, after, limit) => {
    if (selection.scope === 'me') return null;
    const isExported =
      selection.scope === 'org'
        ? sql.part`true`
        : sql.part`exists (select from project_teams pt where ${orgFilter('pt')} and pt.team_id = t.id
              and pt.project_id = ${selection.projectId}::uuid)`;
    return sql<TeamWithMembersRow>`select ${teams.list},
          (select coalesce(json_agg(r), '[]') from (select tm.member_id as "memberId", tm.role,
            ${isoTimeSql(sql.part`tm.created_at`)} as "addedAt" from team_members tm
            where ${orgFilter('tm')} and tm.team_id = t.id order by tm.member_id) r) as members
        from teams t where ${orgFilter('t')} and t.created_at <= ${selection.startedAt}::timestamptz
          and ${isExported} and ${afterKeySql(sql.part`t.id`, after, [uuid])} order by t.id limit ${limit}`;
  },
  keyOf: ({ id }) => [id],
  toRecord: ({ members: membersOfTeam, ...row }) => ({ ...teams.shown(row), members: membersOfTeam }),
});

export const organizationsArchiveReaders: ArchiveReaders = {
  members: readMembers,
  agents: readAgents,
  teams: readTeams,
};
