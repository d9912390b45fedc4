import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { EventKindFilter } from '../kernel/events.ts';
import { operation } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { ActorParam, Instant, ProjectRef, StoryRef } from '../kernel/values.ts';
import { ActivityItem } from '../records/trail.ts';

export const activity = {
  list: operation({
    name: 'activity.list',
    effect: 'read',
    summary: 'List recent activity',
    keywords: 'recent history feed log changes who did what news yesterday',
    description:
      'Newest first, in commit order, and only what you may see. actorId is the id of a member or an agent.',
    access: org('viewer'),
    params: z.strictObject({
      projectId: ProjectRef.optional(),
      storyId: StoryRef.optional(),
      actorId: ActorParam.optional(),
      kinds: EventKindFilter.optional(),
      since: Instant.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(ActivityItem),
    example: { projectId: 'WEB' },
  }),
};
