/** The channels that members chose for notifications. A choice equal to the default is not stored. */
import { type Db, type DB, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type Selectable } from 'kysely';
import { type ChannelChoice, defaultChannels } from '../rules/channels.ts';

export const listChannelChoices = (db: Db, memberId: string): Promise<ChannelChoice[]> =>
  db.all(
    sql<
      Pick<Selectable<DB['notification_preferences']>, 'kind' | 'channel' | 'enabled'>
    >`select kind, channel, enabled from notification_preferences where ${orgFilter()} and member_id = ${memberId}`,
  );

/**
 * Returns the statement that stores a member's choice for a channel. A choice that equals the default is
 * deleted.
 */
export function setChannelChoice(
  memberId: string,
  { kind, channel, enabled }: ChannelChoice,
): Query<unknown> {
  if (defaultChannels(kind)[channel] === enabled)
    return sql`delete from notification_preferences where ${orgFilter()} and member_id = ${memberId} and kind = ${kind} and channel = ${channel}`;
  return sql`insert into notification_preferences (org_id, member_id, kind, channel, enabled) values (${currentOrgId}, ${memberId}, ${kind}, ${channel}, ${enabled}) on conflict (org_id, member_id, kind, channel) do update set enabled = excluded.enabled, updated_at = excluded.updated_at`;
}
