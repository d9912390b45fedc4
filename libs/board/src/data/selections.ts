/** The stories that members view right now. Each row belongs to one device and expires. */
import { type Db, type IdOrSql, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type MemberRef } from '@muster/contract';

/** The period after which the row of a device that views a story expires. */
const selectionLifetime = sql.part`interval '15 minutes'`;
export const maxOnlookers = 50;

/** Lists the other members who view a story, the latest first. A member with two devices is listed once. */
export async function listOnlookers(
  db: Db,
  storyId: IdOrSql,
  excludedMemberId: string,
  limit = maxOnlookers,
): Promise<{ member: MemberRef; since: string }[]> {
  const rows = await db.all(
    sql<{
      id: string;
      name: string;
      handle: string;
      since: string;
    }>`select m.id, m.name, m.handle, max(v.since) as since
       from story_selections v
       join members m on ${orgFilter('m')} and m.id = v.member_id and m.status = 'active'
       where ${orgFilter('v')} and v.story_id = ${storyId}
         and v.since > now() - ${selectionLifetime} and v.member_id <> ${excludedMemberId}
       group by m.id, m.name, m.handle order by since desc, m.id limit ${sql.literal(limit)}`,
  );
  return rows.map(({ since, ...member }) => ({ member, since }));
}

/** The maximum number of devices per member. Clients name their devices, and the oldest ones are deleted. */
const maxDevicesPerMember = 20;

export const setViewedStory = (
  memberId: string,
  deviceId: string,
  storyId: string,
  viewedAt: string,
): Query<unknown> =>
  sql`with older as (delete from story_selections where ${orgFilter()} and member_id = ${memberId} and device_id in (
       select v.device_id from story_selections v where ${orgFilter('v')} and v.member_id = ${memberId} and v.device_id <> ${deviceId}
       order by v.since desc, v.device_id offset ${sql.literal(maxDevicesPerMember - 1)}))
     insert into story_selections (org_id, member_id, device_id, story_id, since) values (${currentOrgId}, ${memberId}, ${deviceId}, ${storyId}, ${viewedAt})
     on conflict (org_id, member_id, device_id) do update set story_id = excluded.story_id, since = excluded.since`;

export const clearViewedStory = (memberId: string, deviceId: string): Query<unknown> =>
  sql`delete from story_selections where ${orgFilter()} and member_id = ${memberId} and device_id = ${deviceId}`;
