/** The stories that members view right now. Each row belongs to one device and expires. */
import { type Db, type Id, of, organization, type Query, sql } from '@muster/driver';
import { type MemberRef } from '@muster/registry';

/** The period after which the row of a device that views a story expires. */
const fadesAfter = sql.part`interval '15 minutes'`;
export const mostOnlookers = 50;

/** Lists the other members who view a story, the latest first. A member with two devices is listed once. */
export async function listOnlookers(
  db: Db,
  storyId: Id,
  except: string,
  limit = mostOnlookers,
): Promise<{ member: MemberRef; since: string }[]> {
  const rows = await db.all(
    sql<{
      id: string;
      name: string;
      handle: string;
      since: string;
    }>`select m.id, m.name, m.handle, max(v.since) as since
       from story_selections v
       join members m on ${of('m')} and m.id = v.member_id and m.status = 'active'
       where ${of('v')} and v.story_id = ${storyId}
         and v.since > now() - ${fadesAfter} and v.member_id <> ${except}
       group by m.id, m.name, m.handle order by since desc, m.id limit ${sql.literal(limit)}`,
  );
  return rows.map(({ since, ...member }) => ({ member, since }));
}

/** The maximum number of devices per member. Clients name their devices, and the oldest ones are deleted. */
const mostDevices = 20;

export const setSelection = (
  memberId: string,
  deviceId: string,
  storyId: string,
  at: string,
): Query<unknown> =>
  sql`with older as (delete from story_selections where ${of()} and member_id = ${memberId} and device_id in (
       select v.device_id from story_selections v where ${of('v')} and v.member_id = ${memberId} and v.device_id <> ${deviceId}
       order by v.since desc, v.device_id offset ${sql.literal(mostDevices - 1)}))
     insert into story_selections (org_id, member_id, device_id, story_id, since) values (${organization}, ${memberId}, ${deviceId}, ${storyId}, ${at})
     on conflict (org_id, member_id, device_id) do update set story_id = excluded.story_id, since = excluded.since`;

export const clearSelection = (memberId: string, deviceId: string): Query<unknown> =>
  sql`delete from story_selections where ${of()} and member_id = ${memberId} and device_id = ${deviceId}`;
