/** Notifications that no longer ask for anything: what they are about was deleted or decided. */
import { type Db, of, type Part, sql } from '@muster/driver';
import { type Subject } from '@muster/registry';
import { markRead, mostAtOnce } from './notifications.ts';

/** Goes out with COMMIT. Mails and pushes that were not sent yet are not sent either, since they skip what was read. */
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

/** All that leads to the story, its comments included. */
export const withdrawStory = (db: Db, { id, projectId }: Subject): void => {
  withdraw(db, sql.part`n.project_id = ${projectId}::uuid and n.subject ->> 'id' = ${id}`);
};

/** Marks the notifications of a member's access request as read: one of those who lead the project decided it. */
export const settleAccessRequest = (db: Db, projectId: string | null, memberId: string): void => {
  db.later(
    markRead(
      sql.part`${of('n')} and n.in_inbox and n.read_at is null and n.project_id = ${projectId}::uuid
        and n.kind = 'access_requested' and n.actor ->> 'memberId' = ${memberId}`,
      mostAtOnce,
    ),
  );
};
