/** The notification to whose mail a member replies. */
import { type Db, orgFilter, sql } from '@muster/driver';

/** The time in days for which a notification mail can be replied to. */
export const replyValidityDays = 14;

export interface ReplyableNotification {
  readonly organizationKey: Buffer;
  readonly memberId: string;
  readonly memberName: string;
  /** The address to which the mail was sent. */
  readonly email: string;
  readonly storyId: string;
  readonly projectId: string;
  /** The comment that the notification is about, or the root of its thread; null if there is none any more. */
  readonly commentId: string | null;
}

/**
 * Finds a notification about a story that the member may still see. Returns undefined if it is too old, if it was
 * deleted, or if the member was removed or lost access. The caller verifies the signature of the address.
 */
export const findReplyableNotification = (
  db: Db,
  notificationId: string,
): Promise<ReplyableNotification | undefined> =>
  db.find(
    sql<ReplyableNotification>`select k.cursor_key as "organizationKey", m.id as "memberId", m.name as "memberName",
        m.email, s.id as "storyId", s.project_id as "projectId",
        (select coalesce(c.parent_id, c.id) from comments c
          where ${orgFilter('c')} and c.id = n.comment_id and c.story_id = s.id) as "commentId"
      from notifications n
      join streams k on ${orgFilter('k')}
      join orgs o on o.id = n.org_id and o.deleted_at is null
      join members m on ${orgFilter('m')} and m.id = n.member_id and m.status = 'active'
      join stories s on ${orgFilter('s')} and s.id = case n.subject ->> 'type' when 'story' then (n.subject ->> 'id')::uuid end
      join projects p on ${orgFilter('p')} and p.id = s.project_id
      where ${orgFilter('n')} and n.id = ${notificationId}::uuid
        and n.created_at > now() - make_interval(days => ${sql.literal(replyValidityDays)})
        and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null`,
  );
