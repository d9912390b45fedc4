/** Lists of members, and the data of a profile. */
import {
  CursorId,
  CursorText,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfSearchRows,
  searchPageSql,
  sql,
} from '@muster/driver';
import { type Member, type ParamsOf, projectRoles, type ResultOf } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { containsPattern } from '@muster/tenancy';
import { z } from 'zod';
import { type MemberRow, members, toMember } from './members.ts';

const Cursor = z.tuple([CursorText, CursorId]);

/** Lists the members of one status in pages, by name. */
export async function listMembers(
  db: Db,
  { query: text, role, status, limit, cursor }: ParamsOf<OrganizationsRegistry['members']['list']>,
): Promise<{ items: Member[]; nextCursor: string | null }> {
  const where = [orgFilter('m'), sql.part`m.status = ${status}`];
  if (role !== undefined) where.push(sql.part`m.role = ${role}`);
  const pattern = text === undefined ? null : sql.part`${containsPattern(text)}`;
  const fits =
    pattern === null
      ? null
      : sql.part`q.name ilike ${pattern} or q.handle ilike ${pattern} or q.email ilike ${pattern}`;
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`(m.name, m.id) > (${after[0]}, ${after[1]}::uuid)`);
  const rows = await db.all(
    sql<MemberRow>`${searchPageSql(
      sql.part`select ${members.list} from members m where ${sql.join(where, ' and ')} order by m.name, m.id`,
      fits,
      sql.part`q.name, q.id`,
      sql.part`${limit + 1}`,
    )}`,
  );
  return pageOfSearchRows(rows, limit, (row) => [row.name, row.id], toMember);
}

type MemberProfile = ResultOf<OrganizationsRegistry['members']['profile']>;

/** The maximum number of projects on a profile. */
const maxProjectsOnProfile = 200;

/** Lists the projects in which a member has a role and that the caller may see, by key. */
export async function listProjectsOfMember(
  db: Db,
  caller: Caller,
  memberId: string,
): Promise<MemberProfile['projects']> {
  const rows = await db.all(
    sql<{
      id: string;
      key: string;
      name: string;
      rank: number;
    }>`select p.id, p.key, p.name, r.rank from members m
       join projects p on p.org_id = m.org_id and p.archived_at is null
       join ${projectsVisibleTo(caller)} v on v.project_id = p.id
       cross join lateral (select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank) r
       where ${orgFilter('m')} and m.id = ${memberId}::uuid and m.status = 'active' and r.rank is not null
       order by p.key limit ${sql.literal(maxProjectsOnProfile)}`,
  );
  return rows.flatMap(({ rank, ...project }) => {
    const role = projectRoles[rank - 1];
    return role === undefined ? [] : [{ ...project, role }];
  });
}

/**
 * Returns the statistics of a member in the projects that the caller may see. Each count uses an index of its
 * own.
 */
export function getMemberStats(db: Db, caller: Caller, memberId: string): Promise<MemberProfile['stats']> {
  const member = sql.part`${memberId}::uuid`;
  return db.one(
    sql<
      MemberProfile['stats']
    >`with seen as materialized (select v.project_id from ${projectsVisibleTo(caller)} v)
       select
         (select count(*) from assignments a join stories s on s.org_id = a.org_id and s.id = a.target_id
           join seen on seen.project_id = s.project_id
           where ${orgFilter('a')} and a.member_id = ${member} and a.target_type = 'story' and s.status = 'done') as "storiesDone",
         (select count(*) from story_reviewers r join stories s on s.org_id = r.org_id and s.id = r.story_id
           join seen on seen.project_id = s.project_id
           where ${orgFilter('r')} and r.member_id = ${member} and r.decided_at is not null and r.imported_by is null) as "reviewsGiven",
         (select count(*) from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id
           join seen on seen.project_id = s.project_id
           where ${orgFilter('c')} and c.author_member_id = ${member}
             and c.body is not null and (c.author ->> 'agentId') is null and (c.author ->> 'memberId') is not null) as "commentsWritten",
         (select count(*) from leases l
           join seen on seen.project_id = l.project_id
           where ${orgFilter('l')} and l.member_id = ${member} and l.state = 'held'
             and l.unit_type <> 'coordination' and l.expires_at > clock_timestamp()) as "activeExecutions"`,
  );
}
