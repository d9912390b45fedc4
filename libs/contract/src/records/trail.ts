/** The records that writes leave: the activity for all members, and the audit log for admins. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const ActivityItem = z
  .object({
    id: Id,
    kind: z.string(),
    actor: Actor,
    projectId: Id.nullable(),
    subject: z.object({ type: z.string(), id: Id, key: z.string().nullable(), title: z.string() }),
    data: z.record(z.string(), z.unknown()),
    at: Time,
  })
  .meta({ id: 'ActivityItem' });
export type ActivityItem = z.infer<typeof ActivityItem>;

/** A position in the stream of events. It is opaque: clients cannot interpret or compare cursors. */
export const EventCursor = z.string().min(1).max(128);

export const Event = ActivityItem.extend({
  cursor: EventCursor.describe('The cursor just after this event'),
}).meta({
  id: 'Event',
});
export type Event = z.infer<typeof Event>;

export const AuditEntry = z
  .object({
    id: Id,
    at: Time,
    actor: Actor,
    tokenId: Id.nullable(),
    operation: z.string(),
    target: z
      .string()
      .nullable()
      .describe(
        'The record named by the first parameter that names one; otherwise the created or changed record',
      ),
    outcome: z.enum(['allowed', 'denied']),
    reason: z.string().nullable(),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string(),
    details: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'Additional details, because the target may no longer exist: for connections.consent, the program that was authorized',
      ),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;
