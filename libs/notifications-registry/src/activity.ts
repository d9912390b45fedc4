import { z } from 'zod';
import {
  org,
  EventKindFilter,
  operation,
  pageParams,
  pageSchemaOf,
  ActorParam,
  Instant,
  ProjectRef,
  StoryRef,
  ActivityItem,
} from '@muster/contract';

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
