/** Withdrawal of notifications that are obsolete, because their subject was deleted or decided. */
import { type Db, of, type Part, sql } from '@muster/driver';
import { type Subject } from '@muster/registry';
import { markRead, mostAtOnce } from './notifications.ts';

/**
 * Removes unread notifications from inboxes. The statements are sent with COMMIT. Pending mails and pushes
 * are cancelled too, because they skip notifications that are read.
 */
function withdraw(db: Db, condition: Part): void {
  db.later(markRead(sql.part`${of('n')} and n.in_inbox and n.read_at is null and ${condition}`, mostAtOnce));
  db.later(
    sql`update notifications n set in_inbox = false where ${of('n')} and n.in_inbox
      and n.read_at is not null and ${condition}`,
  );
}

export const withdrawComment = (db: Db, commentId: string): void => {
  withdraw(db, sql.part`n.comment_id = ${commentId}::uuid`);
};

/** Withdraws all notifications about the story and its comments. */
export const withdrawStory = (db: Db, { id, projectId }: Subject): void => {
  withdraw(db, sql.part`n.project_id = ${projectId}::uuid and n.subject ->> 'id' = ${id}`);
};

/**
 * Marks the notifications about a member's access request as read, because a lead of the project decided it.
 */
export const settleAccessRequest = (db: Db, projectId: string | null, memberId: string): void => {
  db.later(
    markRead(
      sql.part`${of('n')} and n.in_inbox and n.read_at is null and n.project_id = ${projectId}::uuid
        and n.kind = 'access_requested' and n.actor ->> 'memberId' = ${memberId}`,
      mostAtOnce,
    ),
  );
};
