/** Teams and agents that an import of an archive adds, and removes when it is undone. */
import { currentOrgId, orgFilter, type Query, splitIntoPortions, sql } from '@muster/driver';
import { type TeamRole } from '@muster/contract';
import { type AgentRow } from './agents.ts';
import { type TeamRow, teams } from './teams.ts';

export interface ImportedTeam extends TeamRow {
  readonly members: readonly {
    readonly memberId: string;
    readonly role: TeamRole;
    readonly addedAt: string;
  }[];
}

/** Writes new teams with those members who are active. Viewers of the organization lead no team. */
export const insertImportedTeams = (imported: readonly ImportedTeam[]): Query<unknown>[] => [
  ...teams.insertAll(imported.map(({ members: _, ...team }) => team)),
  ...splitIntoPortions(
    imported.flatMap(({ id, members }) => members.map((member) => JSON.stringify({ id, ...member }))),
    (member) => member.length,
  ).map(
    (portion) => sql`insert into team_members (org_id, team_id, member_id, role, created_at)
       select ${currentOrgId}, w.id, m.id, case when m.role = 'viewer' then 'member' else w.role end, w."addedAt"
       from jsonb_to_recordset(${`[${portion.join()}]`}::jsonb) w (id uuid, "memberId" uuid, role text, "addedAt" timestamptz)
       join members m on ${orgFilter('m')} and m.id = w."memberId" and m.status = 'active'
       on conflict (org_id, team_id, member_id) do nothing`,
  ),
];

/** Writes new agents. An agent gets another slug if a member or another agent has its slug. */
export const insertImportedAgents = (agents: readonly AgentRow[]): Query<unknown> =>
  sql`insert into agents (org_id, id, member_id, name, slug, created_at, retired_at)
     select ${currentOrgId}, r.id, r.member_id, r.name, r.slug, r.created_at, r.retired_at
     from jsonb_populate_recordset(null::agents, ${JSON.stringify(agents)}::jsonb) r`;

/**
 * Deletes the teams that have not been used since: they have no new members, belong to no identity provider, have
 * no role in a project except the given one, and no broadcast was sent to them.
 */
export const deleteUnusedTeams = (
  unchanged: readonly { readonly id: string; readonly importedAt: string }[],
  exceptProjectId: string | null,
): Query<unknown> =>
  sql`delete from teams t using unnest(${unchanged.map(({ id }) => id)}::uuid[], ${unchanged.map(({ importedAt }) => importedAt)}::timestamptz[]) w (id, imported_at)
     where ${orgFilter('t')} and t.id = w.id and t.external_id is null
       and not exists (select from team_members m where ${orgFilter('m')} and m.team_id = t.id and m.created_at > w.imported_at)
       and not exists (select from project_teams p where ${orgFilter('p')} and p.team_id = t.id and p.project_id is distinct from ${exceptProjectId}::uuid)
       and not exists (select from broadcasts b where ${orgFilter('b')} and b.team_id = t.id)`;

/** Deletes those of the agents that never had a token, a connection, a run or a budget, and have no work. */
export const deleteUnusedAgents = (ids: readonly string[]): Query<unknown> =>
  sql`delete from agents a where ${orgFilter('a')} and a.id = any (${ids}::uuid[]) and ${sql.join(
    ['tokens', 'connections', 'agent_runs', 'budgets', 'assignments', 'story_reviewers'].map(
      (table) =>
        sql.part`not exists (select from ${sql.word(table)} r where ${orgFilter('r')} and r.agent_id = a.id)`,
    ),
    ' and ',
  )}`;
