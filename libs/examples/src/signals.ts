/** Writes the records that the examples of notifications and broadcasts name, and a team of recipients. */
import { type Person, type Makers } from '@muster/testing/world';

export const signalIds = {
  notification: '01936d5c-0000-7000-8000-000000000070',
  broadcast: '01936d5c-0000-7000-8000-000000000071',
} as const;

interface SignalsSetUp {
  readonly orgId: string;
  readonly ana: Person;
  readonly idOf: (exampleId: string) => string;
}

/** Inserts an unread notification for Ana and a broadcast to all. */
export async function arrangeSignals(
  world: Makers,
  { orgId, ana, idOf }: SignalsSetUp,
): Promise<{ notification: string }> {
  const actor = JSON.stringify({ kind: 'system', memberId: null, agentId: null, name: 'Muster' });
  const notification = idOf(signalIds.notification);
  await world.rows(
    `insert into notifications (org_id, id, member_id, kind, title, actor, created_at)
     values ($1, $2, $3, 'mention', 'Ben mentioned you', $4, now())`,
    orgId,
    notification,
    ana.me.memberId,
    actor,
  );
  await world.rows(
    `insert into broadcasts (org_id, id, message, level, sender, sender_member_id, expires_at)
     values ($1, $2, 'Hello', 'info', $3, $4, now() + interval '1 day')`,
    orgId,
    idOf(signalIds.broadcast),
    actor,
    ana.me.memberId,
  );
  return { notification };
}
