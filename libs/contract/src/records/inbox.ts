/** The inbox of an agent or a member: messages about their work, each with the call that answers it. */
import { z } from 'zod';
import { Id, Time } from '../kernel/values.ts';
import { Actor } from './member.ts';

export const inboxKinds = [
  'verdict',
  'stop',
  'stop_lifted',
  'mention',
  'offer',
  'assigned',
  'unassigned',
  'unblocked',
  'question',
  'question_answered',
  'spec_changed',
  'lease_lost',
  'merged',
  'checks_failed',
] as const;
export const InboxKind = z.enum(inboxKinds);
export type InboxKind = z.infer<typeof InboxKind>;

/** A call without the parameters that the caller chooses, such as the text of a reply. */
export const NextCall = z
  .object({ operation: z.string(), params: z.record(z.string(), z.unknown()) })
  .meta({ id: 'NextCall' });
export type NextCall = z.infer<typeof NextCall>;

export const InboxItem = z
  .union([
    z.object({
      seq: z.int(),
      kind: InboxKind,
      at: Time,
      actor: Actor,
      story: z.object({ id: Id, key: z.string(), title: z.string() }).nullable(),
      executionId: Id.nullable(),
      text: z.string(),
      next: NextCall.nullable().describe('The call that answers the item'),
      startsRun: z
        .boolean()
        .describe(
          'Whether a member who may contribute asked the agent to work on the story, by assigning or mentioning it',
        ),
    }),
    z
      .object({ seq: z.int(), kind: z.literal('withheld'), at: Time })
      .describe('An item about something that you may no longer see'),
  ])
  .meta({ id: 'InboxItem' });
export type InboxItem = z.infer<typeof InboxItem>;
