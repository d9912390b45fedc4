/** Messages to many: whom they are for, and what of them a member can read. */
import {
  type Db,
  type DB,
  decodeCursor,
  pageOfRows,
  type Query,
  query,
  sqlQuery,
  Values,
} from '@muster/database';
import { type Broadcast, type ParamsOf, type Registry, type ResultOf } from '@muster/registry';
import { type Caller, notFound, visibleProjects } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { isVisible } from './visible.ts';

type BroadcastRow = Omit<Selectable<DB['broadcasts']>, 'org_id'>;
type List = Registry['broadcasts']['list'];

export const toBroadcast = (row: Omit<BroadcastRow, 'sender_member_id'>): Broadcast => ({
  id: row.id,
  message: row.message,
  level: row.level,
  projectId: row.project_id,
  teamId: row.team_id,
  sender: row.sender,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.created_at,
});

export const insertBroadcast = (orgId: string, row: BroadcastRow): Query<unknown> =>
  query.insertInto('broadcasts').values({ ...row, org_id: orgId });

export interface ProjectOfBroadcast {
  readonly id: string;
  readonly rank: number;
  readonly archived: boolean;
}

/** The project that a broadcast is for, if the caller may see it. */
export async function getProjectOfBroadcast(
  db: Db,
  caller: Caller,
  ref: string,
): Promise<ProjectOfBroadcast> {
  const values = new Values(caller.orgId);
  const project = await db.find(
    sqlQuery<ProjectOfBroadcast>(
      `select p.id, v.project_rank as rank, p.archived_at is not null as archived from projects p
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       where p.org_id = ${values.org} and p.id = ${values.projectId(ref)}`,
      values.list,
    ),
  );
  if (project === undefined) throw notFound();
  return project;
}

export interface TeamOfBroadcast {
  readonly id: string;
  readonly name: string;
}

export async function getTeamOfBroadcast(db: Db, orgId: string, id: string): Promise<TeamOfBroadcast> {
  const team = await db.find(
    sqlQuery<TeamOfBroadcast>('select t.id, t.name from teams t where t.org_id = $1 and t.id = $2', [
      orgId,
      id,
    ]),
  );
  if (team === undefined) throw notFound();
  return team;
}

/** How many a broadcast is for, its sender not counted. */
export async function countRecipients(
  db: Db,
  caller: Caller,
  { projectRef, teamId }: { readonly projectRef: string | undefined; readonly teamId: string | undefined },
): Promise<number> {
  const values = new Values(caller.orgId);
  const where = [
    `m.org_id = ${values.org} and m.status = 'active' and m.id <> ${values.uuid(caller.memberId)}`,
  ];
  if (teamId !== undefined) {
    where.push(
      `m.id in (select t.member_id from team_members t where t.org_id = ${values.org} and t.team_id = ${values.uuid(teamId)})`,
    );
  }
  if (projectRef !== undefined) {
    where.push(`exists (select from projects p
      where p.org_id = ${values.org} and p.id = ${values.projectId(projectRef)}
        and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)`);
  }
  const { count } = await db.one(
    sqlQuery<{ count: number }>(
      `select count(*) as count from members m where ${where.join(' and ')}`,
      values.list,
    ),
  );
  return count;
}

const Cursor = z.tuple([z.iso.datetime(), z.uuid()]);

/** No broadcast lives longer, so what is older need not be looked at for those that live. */
const longestLife = `interval '30 days'`;

/** A page of the broadcasts meant for the caller, newest first. */
export async function listBroadcasts(
  db: Db,
  caller: Caller,
  { projectId, includeExpired, limit, cursor }: ParamsOf<List>,
): Promise<ResultOf<List>> {
  const values = new Values(caller.orgId);
  const me = values.uuid(caller.memberId);
  const where = [
    `b.org_id = ${values.org}`,
    isVisible(values, caller, 'b.project_id'),
    `(b.team_id is null or b.sender_member_id = ${me} or b.team_id in (
       select t.team_id from team_members t where t.org_id = ${values.org} and t.member_id = ${me}))`,
  ];
  if (projectId !== undefined) where.push(`b.project_id = ${values.projectId(projectId)}`);
  if (!includeExpired) {
    where.push(`b.expires_at > now() and b.created_at > now() - ${longestLife}`);
  }
  const before = decodeCursor(cursor, Cursor);
  if (before !== undefined) {
    where.push(`(b.created_at, b.id) < (${values.instant(before[0])}, ${values.uuid(before[1])})`);
  }
  const rows = await db.all(
    sqlQuery<BroadcastRow>(
      `select b.id, b.message, b.level, b.project_id, b.team_id, b.sender, b.sender_member_id, b.expires_at, b.created_at
       from broadcasts b where ${where.join(' and ')}
       order by b.created_at desc, b.id desc limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.created_at, row.id], toBroadcast);
}
