import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { eventKinds } from '../kernel/events.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page } from '../kernel/pagination.ts';
import { ProjectRef } from '../kernel/values.ts';
import { Event, EventCursor } from '../records/trail.ts';

export const events = {
  list: operation({
    name: 'events.list',
    effect: 'read',
    summary: 'Follow what happens, event by event',
    keywords: 'stream feed subscribe poll realtime sync since webhook',
    description: `Oldest first, in the order in which it was committed, only what you may see now: going on from cursor misses none. It begins with the oldest that is kept, or after the cursor, or now with "latest". With waitSeconds it answers as soon as there is one.`,
    access: org('viewer'),
    params: z.strictObject({
      after: EventCursor.optional().describe('A cursor that this operation gave, or "latest"'),
      projectId: ProjectRef.optional(),
      kinds: z.array(z.enum(eventKinds)).min(1).max(eventKinds.length).optional(),
      limit: page.limit,
      waitSeconds: z.int().min(0).max(25).default(0),
    }),
    result: z.object({
      items: z.array(Event),
      cursor: EventCursor.describe('Where to go on from, also where there are no items'),
      oldest: EventCursor.describe('Just before the oldest event that is kept'),
    }),
    refusals: ['resync'],
    example: { projectId: 'WEB' },
    surfaces: notAsTool,
  }),
};
