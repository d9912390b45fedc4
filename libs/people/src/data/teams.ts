/** The teams table: one team, found, locked, written; the teams of the organization, and those of a member. */
import {
  containing,
  type Db,
  type DB,
  decodeCursor,
  pageOfRows,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
  Values,
} from '@muster/database';
import {
  isCleanText,
  notFound,
  type ParamsOf,
  type Registry,
  type Subject,
  type Team,
  type TeamRole,
} from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export type TeamRow = Omit<Selectable<DB['teams']>, 'org_id'>;

const teamColumns = 't.id, t.name, t.description, t.created_at, t.updated_at, t.version';

export const toTeam = (row: TeamRow): Team => ({
  id: row.id,
  name: row.name,
  description: row.description,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The team as the subject of what happened to it. */
export const aboutTeam = (team: Pick<TeamRow, 'id' | 'name'>): Subject => ({
  type: 'team',
  id: team.id,
  key: null,
  title: team.name,
  projectId: null,
});

export async function getTeam(db: Db, orgId: string, teamId: string): Promise<Team> {
  const row = await db.find(
    sqlQuery<TeamRow>(`select ${teamColumns} from teams t where t.org_id = $1 and t.id = $2`, [
      orgId,
      teamId,
    ]),
  );
  if (row === undefined) throw notFound();
  return toTeam(row);
}

/** A team with the caller's own role in it. */
export interface LockedTeam extends TeamRow {
  readonly caller_role: TeamRole | null;
}

/** Locks a team: whoever changes it, or who is in it, takes turns. */
export async function lockTeam(db: Db, { orgId, memberId }: Caller, teamId: string): Promise<LockedTeam> {
  const row = await db.find(
    sqlQuery<LockedTeam>(
      `select ${teamColumns}, (select tm.role from team_members tm
         where tm.org_id = $1 and tm.team_id = $2 and tm.member_id = $3) as caller_role
       from teams t where t.org_id = $1 and t.id = $2 for no key update of t`,
      [orgId, teamId, memberId],
    ),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** As the index has it: in small letters, and so once. */
const Cursor = z.tuple([z.string().max(400).refine(isCleanText)]);

/** A page of the organization's teams, by name. */
export async function listTeams(
  db: Db,
  orgId: string,
  { query: text, limit, cursor }: ParamsOf<Registry['teams']['list']>,
): Promise<{ items: Team[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [`t.org_id = ${values.org}`];
  if (text !== undefined) where.push(`t.name ilike ${values.$(containing(text))}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`lower(t.name) > ${values.$(after[0])}`);
  const rows = await db.all(
    sqlQuery<TeamRow & { key: string }>(
      `select ${teamColumns}, lower(t.name) as key from teams t
       where ${where.join(' and ')} order by lower(t.name) limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.key], toTeam);
}

export const insertTeam = (orgId: string, team: TeamRow): Query<unknown> =>
  query.insertInto('teams').values({ ...team, org_id: orgId });

const updateTeam = statement((param: Param<TeamRow & { org_id: string }>) =>
  query
    .updateTable('teams')
    .set({
      name: param('name'),
      description: param('description'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id'))
    .where('id', '=', param('id')),
);

/** Writes a locked team as it is now. */
export const setTeam = (orgId: string, team: TeamRow): Query<unknown> =>
  updateTeam({ ...team, org_id: orgId });

/** The team goes, and with it who is in it and its roles in projects. */
export const deleteTeam = (orgId: string, teamId: string): Query<unknown> =>
  query.deleteFrom('teams').where('org_id', '=', orgId).where('id', '=', teamId);

interface TeamOfMember {
  readonly id: string;
  readonly name: string;
  readonly role: TeamRole;
}

/** On a profile. */
const mostTeams = 200;

const teamsOfMember = statement((param: Param<{ orgId: string; memberId: string }>) =>
  query
    .selectFrom('team_members as tm')
    .innerJoin('teams as t', (join) =>
      join.onRef('t.org_id', '=', 'tm.org_id').onRef('t.id', '=', 'tm.team_id'),
    )
    .select(['t.id', 't.name', 'tm.role'])
    .where('tm.org_id', '=', param('orgId'))
    .where('tm.member_id', '=', param('memberId'))
    .orderBy('t.name')
    .orderBy('t.id')
    .limit(mostTeams),
);

/** The teams that a member is in, by name. */
export const listTeamsOfMember = (db: Db, orgId: string, memberId: string): Promise<TeamOfMember[]> =>
  db.all(teamsOfMember({ orgId, memberId }));
