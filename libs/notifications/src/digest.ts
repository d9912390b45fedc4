/** The daily digest: one e-mail with the unread notifications of the kinds for which a member chose it. */
import { type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { firstIdAtSql, outboxRow } from '@muster/tenancy';
import { isSnoozedSql } from './data/notifications.ts';
import { consoleUrlOf } from './rules/console-links.ts';
import { excerpt } from './rules/excerpts.ts';

/** Starts the digests of a member. The first one contains what arrives from now on. */
export const startDigests = (memberId: string): Query<unknown> =>
  sql`insert into notification_digests (org_id, member_id) values (${currentOrgId}, ${memberId}) on conflict do nothing`;

/**
 * Returns SQL for the last time at which digests were due: every day at this hour, in UTC. A notification's time is
 * that of its statement, so digests wait until the transactions of that time have ended.
 */
const lastDueSql = (hourUtc: number): Part =>
  sql.part`date_bin('1 day', now() - interval '5 minutes', timestamptz '2000-01-01 00:00Z' + make_interval(hours => ${hourUtc}::int))`;

/** The condition that the digest `t` is due. */
export const dueDigestsCondition = (hourUtc: number): Part => sql.part`t.sent_until < ${lastDueSql(hourUtc)}`;

const hasDigestSql = sql.part`exists (select from notification_preferences c where ${orgFilter('c')}
  and c.member_id = t.member_id and c.channel = 'digest' and c.enabled)`;

/**
 * Requests the due digests of the organization, for at most `most` members, and returns the number of members.
 * Deletes the digest of members who no longer chose any kind.
 */
export async function requestDueDigests(db: Db, hourUtc: number, most: number): Promise<number> {
  const rows = await db.all(
    sql<{ member_id: string; since: string; until: string; has_digest: boolean }>`with due as materialized (
        select t.member_id, t.sent_until, ${hasDigestSql} as has_digest from notification_digests t
        where ${orgFilter('t')} and ${dueDigestsCondition(hourUtc)} order by t.sent_until limit ${most} for no key update),
      ended as (
        delete from notification_digests t using due d
        where ${orgFilter('t')} and t.member_id = d.member_id and not d.has_digest),
      moved as (
        update notification_digests t set sent_until = ${lastDueSql(hourUtc)} from due d
        where ${orgFilter('t')} and t.member_id = d.member_id and d.has_digest)
      select d.member_id, d.sent_until as since, ${lastDueSql(hourUtc)} as until, d.has_digest from due d`,
  );
  for (const { member_id: memberId, since, until, has_digest: hasDigest } of rows)
    if (hasDigest) db.deferToCommit(outboxRow('digest.mail', { memberId, since, until }));
  return rows.length;
}

/** The maximum number of notifications that one digest lists. The inbox has the others. */
const maxListedNotifications = 200;

/** The period of a digest, from `since` until just before `until`. */
export interface DigestPeriod {
  readonly memberId: string;
  readonly since: string;
  readonly until: string;
}

interface DigestRow {
  readonly title: string;
  readonly project: string | null;
  /** The key and the title of the story; null for other subjects. */
  readonly story: string | null;
  readonly email: string;
  readonly org_name: string;
  readonly total: number;
}

/** Reads the unread notifications of the period, grouped by project and story, with the member's current rights. */
const digestRowsQuery = ({ memberId, since, until }: DigestPeriod) => sql<DigestRow>`
  select n.title, p.name || ' (' || p.key || ')' as project,
    case n.subject ->> 'type' when 'story' then (n.subject ->> 'key') || ' ' || (n.subject ->> 'title') end as story,
    m.email, o.name as org_name, (count(*) over ())::integer as total
  from members m
  join orgs o on o.id = m.org_id and o.deleted_at is null
  join notification_preferences c on ${orgFilter('c')} and c.member_id = m.id and c.channel = 'digest' and c.enabled
  cross join lateral (
    select n.* from notifications n
    where ${orgFilter('n')} and n.member_id = m.id and n.kind = c.kind and n.read_at is null and not ${isSnoozedSql}
      and n.id >= ${firstIdAtSql(sql.part`${since}::timestamptz`)}
      and n.id < ${firstIdAtSql(sql.part`${until}::timestamptz`)}) n
  left join projects p on ${orgFilter('p')} and p.id = n.project_id
  where ${orgFilter('m')} and m.id = ${memberId}::uuid and m.status = 'active'
    and (n.project_id is null or app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)
  order by p.name nulls last, p.id, max(n.created_at) over (partition by n.project_id, n.subject ->> 'id') desc,
    n.subject ->> 'id', n.id
  limit ${maxListedNotifications}`;

/** The content of a digest mail. */
export interface DigestMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Prepares the digest; null if no notification of the period is unread, or if the member was removed. */
export async function prepareDigest(
  db: Db,
  period: DigestPeriod,
  baseUrl: string,
): Promise<DigestMail | null> {
  const rows = await db.all(digestRowsQuery(period));
  const [first] = rows;
  if (first === undefined) return null;
  const console = consoleUrlOf(baseUrl);
  const unlisted = first.total - rows.length;
  const count = first.total === 1 ? '1 unread notification' : `${first.total} unread notifications`;
  return {
    to: first.email,
    subject: excerpt(`[${first.org_name}] ${count}`, 120),
    text: [
      ...listByProject(rows),
      unlisted === 0 ? '' : `And ${unlisted} more in your inbox.`,
      `Open your inbox: ${console}/inbox`,
      `You get this once a day as a member of ${first.org_name} on Muster. Unsubscribe or choose what it contains: ${console}/settings/notifications`,
    ]
      .filter((paragraph) => paragraph !== '')
      .join('\n\n'),
  };
}

/** Writes a paragraph for each story of each project. The rows are ordered by project and story. */
function listByProject(rows: readonly DigestRow[]): string[] {
  const paragraphs: string[] = [];
  let project: string | null | undefined;
  let story: string | null | undefined;
  for (const row of rows) {
    if (row.project !== project) {
      paragraphs.push(row.project ?? 'Organization');
      story = undefined;
    }
    const line = `- ${row.title}`;
    const last = paragraphs.at(-1);
    if (last !== undefined && story !== undefined && row.story === story)
      paragraphs[paragraphs.length - 1] = `${last}\n${line}`;
    else paragraphs.push(row.story === null ? line : `${row.story}\n${line}`);
    ({ project, story } = row);
  }
  return paragraphs;
}
