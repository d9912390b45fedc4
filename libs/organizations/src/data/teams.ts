/** The table of teams: queries for one team, for lists, and for the teams of a member. */
import {
  CursorText,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfSearchRows,
  type Query,
  defineRecord,
  type RowOf,
  searchPageSql,
  sql,
} from '@muster/driver';
import { type ParamsOf, type Subject, subjectOf, type Team, type TeamRole } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { containsPattern } from '@muster/tenancy';
import { z } from 'zod';

export const teams = defineRecord('teams', 't', {
  name: { set: true },
  description: { set: true, emptyValue: '' },
});
export type TeamRow = RowOf<typeof teams>;
export const toTeam: (row: TeamRow) => Team = teams.shown;

/** Returns the subject of an event about the team. */
export const toTeamEventSubject = (team: Pick<TeamRow, 'id' | 'name'>): Subject =>
  subjectOf('team', team, team.name);

/** A team with the caller's own role in it. */
export interface LockedTeam extends TeamRow {
  readonly caller_role: TeamRole | null;
}

/** Locks a team, which serializes calls that change the team or its members. */
export function lockTeam(db: Db, { memberId }: Caller, teamId: string): Promise<LockedTeam> {
  return db.get(
    sql<LockedTeam>`select ${teams.list}, (select tm.role from team_members tm
         where ${orgFilter('tm')} and tm.team_id = ${teamId} and tm.member_id = ${memberId}) as caller_role
       from teams t where ${orgFilter('t')} and t.id = ${teamId} for no key update of t`,
  );
}

/** The team's name in lower case, as in the unique index. */
const Cursor = z.tuple([CursorText]);

/** Lists the organization's teams in pages, by name. */
export async function listTeams(
  db: Db,
  { query: text, limit, cursor }: ParamsOf<OrganizationsRegistry['teams']['list']>,
): Promise<{ items: Team[]; nextCursor: string | null }> {
  const where = [orgFilter('t')];
  const fits = text === undefined ? null : sql.part`q.name ilike ${containsPattern(text)}`;
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`lower(t.name) > ${after[0]}`);
  const rows = await db.all(
    sql<TeamRow & { key: string }>`${searchPageSql(
      sql.part`select ${teams.list}, lower(t.name) as key from teams t where ${sql.join(where, ' and ')} order by lower(t.name)`,
      fits,
      sql.part`q.key`,
      sql.part`${limit + 1}`,
    )}`,
  );
  return pageOfSearchRows(rows, limit, (row) => [row.key], toTeam);
}

/** Deletes the team together with its memberships and its roles in projects. */
export const deleteTeam = (teamId: string): Query<unknown> =>
  sql`delete from teams where ${orgFilter()} and id = ${teamId}`;

interface TeamOfMember {
  readonly id: string;
  readonly name: string;
  readonly role: TeamRole;
}

/** The maximum number of teams on a profile. */
const maxTeamsOnProfile = 200;

/** Lists the teams of a member, by name. */
export const listTeamsOfMember = (db: Db, memberId: string): Promise<TeamOfMember[]> =>
  db.all(
    sql<TeamOfMember>`select t.id, t.name, tm.role from team_members tm
       join teams t on t.org_id = tm.org_id and t.id = tm.team_id
       where ${orgFilter('tm')} and tm.member_id = ${memberId} order by t.name, t.id limit ${maxTeamsOnProfile}`,
  );
