/** The choices of members to follow or mute a story. */
import { currentOrgId, type IdOrSql, type Query, sql } from '@muster/driver';

/** Stores the choice, and returns the id of the story. */
export const setSubscription = (
  storyId: IdOrSql,
  memberId: string,
  subscribed: boolean,
): Query<{ readonly story_id: string }> =>
  sql<{
    readonly story_id: string;
  }>`insert into story_subscriptions as w (org_id, story_id, member_id, subscribed)
    values (${currentOrgId}, ${storyId}, ${memberId}, ${subscribed})
    on conflict (org_id, story_id, member_id) do update set subscribed = excluded.subscribed, updated_at = now()
    returning w.story_id`;
