import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { eventKinds } from '../kernel/events.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { ActorParam, Instant, ProjectRef, StoryRef } from '../kernel/values.ts';
import { ActivityItem } from '../records/trail.ts';

export const activity = {
  list: operation({
    name: 'activity.list',
    effect: 'read',
    summary: 'List what happened',
    keywords: 'recent history feed log changes who did what news yesterday',
    description: `Newest first, in the order in which it was committed, only what you may see. actorId is a member's or an agent's.`,
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      storyId: StoryRef.optional(),
      actorId: ActorParam.optional(),
      kinds: z.array(z.enum(eventKinds)).min(1).max(eventKinds.length).optional(),
      since: Instant.optional(),
      ...page,
    }),
    result: pageOf(ActivityItem),
    example: { projectId: 'WEB' },
  }),
};
