/** What members look at right now. A row is one device's; it means nothing any more when it is old. */
import { type Db, type Query, sqlQuery, Values } from '@muster/database';
import { type MemberRef } from '@muster/registry';

/** So long a selection is believed. */
const fadesAfter = `interval '15 minutes'`;
export const mostOnlookers = 50;

/** The other members who look at a story, the latest first; whoever does on two devices is named once. */
export async function listOnlookers(
  db: Db,
  orgId: string,
  storyRef: string,
  except: string,
  limit = mostOnlookers,
): Promise<{ member: MemberRef; since: string }[]> {
  const values = new Values(orgId);
  const rows = await db.all(
    sqlQuery<{ id: string; name: string; handle: string; since: string }>(
      `select m.id, m.name, m.handle, max(v.since) as since
       from story_selections v
       join members m on m.org_id = ${values.org} and m.id = v.member_id and m.status = 'active'
       where v.org_id = ${values.org} and v.story_id = ${values.storyId(storyRef)}
         and v.since > now() - ${fadesAfter} and v.member_id <> ${values.$(except)}
       group by m.id, m.name, m.handle order by since desc, m.id limit ${limit}`,
      values.list,
    ),
  );
  return rows.map(({ since, ...member }) => ({ member, since }));
}

export const setSelection = (
  orgId: string,
  memberId: string,
  deviceId: string,
  storyId: string,
  at: string,
): Query<unknown> =>
  sqlQuery(
    `insert into story_selections (org_id, member_id, device_id, story_id, since) values ($1, $2, $3, $4, $5)
     on conflict (org_id, member_id, device_id) do update set story_id = excluded.story_id, since = excluded.since`,
    [orgId, memberId, deviceId, storyId, at],
  );

export const clearSelection = (orgId: string, memberId: string, deviceId: string): Query<unknown> =>
  sqlQuery('delete from story_selections where org_id = $1 and member_id = $2 and device_id = $3', [
    orgId,
    memberId,
    deviceId,
  ]);
