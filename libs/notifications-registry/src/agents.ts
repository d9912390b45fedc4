import { z } from 'zod';
import { selfAccess, operation, pageParams, InboxItem, InboxKind, inboxKinds } from '@muster/contract';

/** The part of the namespace `agents` for their inbox. */
export const agents = {
  inbox: operation({
    name: 'agents.inbox',
    effect: 'read',
    summary: 'Read what came in about your work',
    keywords: 'messages mentions verdict answer stop assigned news wait notifications poll',
    description:
      'Of the calling agent, or of the calling member: verdicts, stops, mentions, offers, assignments, answers and changes, oldest first and without gaps. Needs no lease. Starts after the given cursor, or with the oldest item; items are kept for 14 days. With waitSeconds the call returns as soon as there is an item. next is the call that answers an item.',
    access: selfAccess(),
    params: z.strictObject({
      after: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'A cursor from an earlier call, or the seq of an item' }),
      kinds: z.array(InboxKind).min(1).max(inboxKinds.length).optional(),
      limit: pageParams.limit,
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({
      items: z.array(InboxItem),
      cursor: z.int().describe('The position to continue from, present even if there are no items'),
    }),
    example: {},
  }),
};
