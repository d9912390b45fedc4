/** The project_members table: roles given to members in a project. And the list of all who have a role, however. */
import { type Db, decodeCursor, pageOfRows, type Query, query, sqlQuery, Values } from '@muster/database';
import {
  isCleanText,
  isUuid,
  type OrgRole,
  type ParamsOf,
  type Participant,
  type ProjectRole,
  projectRoles,
  type Registry,
} from '@muster/registry';
import { notFound } from '@muster/runtime';
import { z } from 'zod';

export interface GivenRole {
  readonly role: ProjectRole;
  readonly created_at: string;
}

/** A member of the organization who stays one, with the role there, until this transaction ends. */
export async function lockActiveMember(
  db: Db,
  orgId: string,
  memberId: string,
): Promise<{ name: string; handle: string; role: OrgRole }> {
  const member = await db.find(
    query
      .selectFrom('members')
      .select(['name', 'handle', 'role'])
      .where('org_id', '=', orgId)
      .where('id', '=', memberId)
      .where('status', '=', 'active')
      .forShare(),
  );
  if (member === undefined) throw notFound();
  return member;
}

/** The role that a member was given in a project. */
export function findGivenRole(
  db: Db,
  orgId: string,
  projectRef: string,
  memberId: string,
): Promise<GivenRole | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<GivenRole>(
      `select pm.role, pm.created_at from project_members pm
       where pm.org_id = ${values.org} and pm.project_id = ${values.projectId(projectRef)} and pm.member_id = ${values.uuid(memberId)}`,
      values.list,
    ),
  );
}

/** Gives a member a role in a locked project, in place of the one given before. */
export const setGivenRole = (
  orgId: string,
  projectId: string,
  memberId: string,
  { role, created_at }: GivenRole,
): Query<unknown> =>
  query
    .insertInto('project_members')
    .values({ org_id: orgId, project_id: projectId, member_id: memberId, role, created_at })
    .onConflict((conflict) => conflict.columns(['org_id', 'project_id', 'member_id']).doUpdateSet({ role }));

export const deleteGivenRole = (orgId: string, projectId: string, memberId: string): Query<unknown> =>
  query
    .deleteFrom('project_members')
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .where('member_id', '=', memberId);

const Cursor = z.tuple([z.string().refine(isCleanText), z.string().refine(isUuid)]);

interface ParticipantRow {
  readonly id: string;
  readonly name: string;
  readonly rank: number;
  readonly via: Participant['via'];
}

const toParticipant = ({ id, name, rank, via }: ParticipantRow): Participant => {
  const role = projectRoles[rank - 1];
  if (role === undefined) throw new Error('who is listed has a role');
  return { memberId: id, name, role, via };
};

/**
 * A page of who has a role in a project, by name. Where everybody has one, the members are read in that order and only
 * as many as are shown; in a private project all who have one are read, which are few beside the organization. Which of
 * the two it is shows only inside the statement, where the other half is not run.
 */
export async function listParticipants(
  db: Db,
  orgId: string,
  { projectId, limit, cursor }: ParamsOf<Registry['projects']['members']['list']>,
): Promise<{ items: Participant[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const { org } = values;
  const id = values.projectId(projectId);
  const most = values.$(limit + 1);
  const after = decodeCursor(cursor, Cursor);
  const follows =
    after === undefined ? 'true' : `(m.name, m.id) > (${values.$(after[0])}::text, ${values.uuid(after[1])})`;
  const teams = `project_teams pt join team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
    where pt.org_id = ${org} and pt.project_id = (select p.id from project p)`;
  const members = `select m.id, m.name, m.role from members m
    where m.org_id = ${org} and m.status = 'active' and ${follows} and (select p.visibility from project p)`;
  const rows = await db.all(
    sqlQuery<ParticipantRow>(
      `with project as (
         select p.id, p.visibility from projects p where p.org_id = ${org} and p.id = ${id}),
       participant as (
         (${members} = 'org' order by m.name, m.id limit ${most})
         union all
         ${members} = 'private' and m.id in (
           select pm.member_id from project_members pm
             where pm.org_id = ${org} and pm.project_id = (select p.id from project p)
           union select tm.member_id from ${teams}
           union select a.id from members a
             where a.org_id = ${org} and a.status = 'active' and a.role in ('owner', 'admin')))
       select m.id, m.name, held.rank, held.via
       from participant m cross join project p cross join lateral (
         select h.rank, h.via from (
           select app.held_rank(pm.role, m.role), 'direct', 1 from project_members pm
             where pm.org_id = ${org} and pm.project_id = p.id and pm.member_id = m.id
           union all select max(app.held_rank(pt.role, m.role)), 'team', 2 from ${teams} and tm.member_id = m.id
           union all select app.given_rank(p.visibility, m.role), 'org', 3
         ) h (rank, via, place) where h.rank is not null order by h.rank desc, h.place limit 1) held
       order by m.name, m.id limit ${most}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.name, row.id], toParticipant);
}
