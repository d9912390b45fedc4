/** Withdrawal of notifications that are obsolete, because their subject was deleted or decided. */
import { type Db, orgFilter, type Part, sql } from '@muster/driver';
import { type Subject } from '@muster/contract';
import { markReadQuery, maxMarkedPerStatement } from './notifications.ts';

/**
 * Marks notifications as read and removes them from inboxes. The statements are sent with COMMIT. Pending mails,
 * pushes and digests are cancelled too, because they skip notifications that are read.
 */
function withdrawNotifications(db: Db, condition: Part): void {
  db.deferToCommit(
    markReadQuery(sql.part`${orgFilter('n')} and n.read_at is null and ${condition}`, maxMarkedPerStatement),
  );
  db.deferToCommit(
    sql`update notifications n set in_inbox = false where ${orgFilter('n')} and n.in_inbox
      and n.read_at is not null and ${condition}`,
  );
}

export const withdrawNotificationsOfComment = (db: Db, commentId: string): void => {
  withdrawNotifications(db, sql.part`n.comment_id = ${commentId}::uuid`);
};

/** Withdraws all notifications about the story and its comments. */
export const withdrawNotificationsOfStory = (db: Db, { id, projectId }: Subject): void => {
  withdrawNotifications(db, sql.part`n.project_id = ${projectId}::uuid and n.subject ->> 'id' = ${id}`);
};

/**
 * Marks the notifications about a member's access request as read, because a lead of the project decided it.
 */
export const markAccessRequestRead = (db: Db, projectId: string | null, memberId: string): void => {
  db.deferToCommit(
    markReadQuery(
      sql.part`${orgFilter('n')} and n.read_at is null and n.project_id = ${projectId}::uuid
        and n.kind = 'access_requested' and n.actor ->> 'memberId' = ${memberId}`,
      maxMarkedPerStatement,
    ),
  );
};
