import { z } from 'zod';
import {
  org,
  EventKindFilter,
  surfacesWithoutTool,
  operation,
  pageParams,
  ProjectRef,
  Event,
  EventCursor,
} from '@muster/contract';

export const events = {
  list: operation({
    name: 'events.list',
    effect: 'read',
    summary: 'Follow the event stream',
    keywords: 'stream feed subscribe poll realtime sync since webhook',
    description:
      'Oldest first, in commit order, and only what you may see now; continuing from cursor misses no event. Starts with the oldest event that is kept, after the given cursor, or now with "latest". With waitSeconds the call returns as soon as there is an event.',
    access: org('viewer'),
    params: z.strictObject({
      after: EventCursor.optional().describe('A cursor from an earlier call, or "latest"'),
      projectId: ProjectRef.optional(),
      kinds: EventKindFilter.optional(),
      limit: pageParams.limit,
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({
      items: z.array(Event),
      cursor: EventCursor.describe('The position to continue from, present even if there are no items'),
      oldest: EventCursor.describe('The position just before the oldest event that is kept'),
    }),
    refusals: ['resync'],
    example: { projectId: 'WEB' },
    surfaces: surfacesWithoutTool,
  }),
};
