/** Members by name, and what there is to say of one. */
import { containing, type Db, decodeCursor, pageOfRows, sqlQuery, Values } from '@muster/database';
import {
  isUuid,
  type Member,
  MemberName,
  type ParamsOf,
  projectRoles,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { type Caller, visibleProjects } from '@muster/runtime';
import { z } from 'zod';
import { memberColumns, type MemberRow, toMember } from './members.ts';

const Cursor = z.tuple([MemberName, z.string().refine(isUuid)]);
const columns = memberColumns.map((column) => `m.${column}`).join(', ');

/** A page of the members of one status, by name. */
export async function listMembers(
  db: Db,
  orgId: string,
  { query: text, role, status, limit, cursor }: ParamsOf<Registry['members']['list']>,
): Promise<{ items: Member[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const where = [`m.org_id = ${values.org}`, `m.status = ${values.$(status)}`];
  if (role !== undefined) where.push(`m.role = ${values.$(role)}`);
  if (text !== undefined) {
    const pattern = values.$(containing(text));
    where.push(`(m.name ilike ${pattern} or m.handle ilike ${pattern} or m.email ilike ${pattern})`);
  }
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(`(m.name, m.id) > (${values.$(after[0])}, ${values.uuid(after[1])})`);
  const rows = await db.all(
    sqlQuery<MemberRow>(
      `select ${columns} from members m
       where ${where.join(' and ')} order by m.name, m.id limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(rows, limit, (row) => [row.name, row.id], toMember);
}

type Profile = ResultOf<Registry['members']['profile']>;

/** On a profile. */
const mostProjects = 200;

/** The projects that a member has a role in, as far as the caller may see them, by key. */
export async function listProjectsOfMember(
  db: Db,
  caller: Caller,
  memberId: string,
): Promise<Profile['projects']> {
  const values = new Values(caller.orgId);
  const rows = await db.all(
    sqlQuery<{ id: string; key: string; name: string; rank: number }>(
      `select p.id, p.key, p.name, r.rank from members m
       join projects p on p.org_id = m.org_id and p.archived_at is null
       join ${visibleProjects(values, caller)} v on v.project_id = p.id
       cross join lateral (select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank) r
       where m.org_id = ${values.org} and m.id = ${values.uuid(memberId)} and m.status = 'active' and r.rank is not null
       order by p.key limit ${mostProjects}`,
      values.list,
    ),
  );
  return rows.flatMap(({ rank, ...project }) => {
    const role = projectRoles[rank - 1];
    return role === undefined ? [] : [{ ...project, role }];
  });
}

/** What a member did, counted by indexes of their own. */
export const getStats = (db: Db, orgId: string, memberId: string): Promise<Profile['stats']> =>
  db.one(
    sqlQuery<Profile['stats']>(
      `select
         (select count(*) from assignments a join stories s on s.org_id = a.org_id and s.id = a.target_id
           where a.org_id = $1 and a.member_id = $2 and a.target_type = 'story' and s.status = 'done') as "storiesDone",
         (select count(*) from story_reviewers r
           where r.org_id = $1 and r.member_id = $2 and r.decided_at is not null) as "reviewsGiven",
         (select count(*) from comments c where c.org_id = $1 and c.author_member_id = $2
           and c.body is not null and (c.author ->> 'agentId') is null) as "commentsWritten",
         (select count(*) from leases l where l.org_id = $1 and l.member_id = $2 and l.state = 'held'
           and l.unit_type <> 'coordination' and l.expires_at > clock_timestamp()) as "activeExecutions"`,
      [orgId, memberId],
    ),
  );
