import { infiniteQueryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type EventKind } from '@muster/contract';
import { type ActivityFilter } from '../data/trail-filter.ts';
import { parseSince } from './trail-bounds.ts';
import { serverNow } from '../data/time.ts';
import { activityTexts, eventKinds } from '../messages/activity.ts';

export type EventKindGroup = keyof typeof activityTexts.groups;

/** The group of a kind of event, by its subject. */
const groupBySubject: Readonly<Record<string, EventKindGroup>> = {
  ...{ story: 'stories', epic: 'stories', spec: 'specs', contract: 'specs', prompt: 'specs' },
  ...{ comment: 'comments', reviewer: 'reviews', review: 'reviews', assignment: 'reviews' },
  ...{ execution: 'work', run: 'work', lock: 'work', lease: 'work', group: 'work' },
  ...{ member: 'people', invitation: 'people', team: 'people', access: 'people', broadcast: 'people' },
};

/** Lists the matching kinds: one kind, those of a group, or none if the value is unknown. */
export function findMatchingKinds(kindOrGroup: string): readonly EventKind[] {
  if (!(kindOrGroup in activityTexts.groups)) return eventKinds.filter((one) => one === kindOrGroup);
  return eventKinds.filter((one) => (groupBySubject[one.split('.')[0] ?? ''] ?? 'setup') === kindOrGroup);
}

/** The kinds that a story's page does not list, because it shows comments, and moving a card changes no fact. */
const kindsBesideStory: ReadonlySet<EventKind> = new Set<EventKind>([
  ...(['comment.created', 'comment.updated', 'comment.reacted', 'story.reordered'] as const),
]);

/** Queries what happened to a story, except for its comments. */
export const storyActivityQuery = (client: Client, storyKey: string) =>
  infiniteQueryOptions({
    queryKey: ['story', storyKey, 'activity'],
    queryFn: ({ pageParam }) =>
      client.activity.list({
        ...{ storyId: storyKey, kinds: eventKinds.filter((kind) => !kindsBesideStory.has(kind)), limit: 15 },
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Queries the filtered activity. An unknown kind is ignored. */
export const activityQuery = (client: Client, filter: ActivityFilter) => {
  const { actor, kind, project, story, since } = filter;
  const chosen = kind === undefined ? [] : findMatchingKinds(kind);
  return infiniteQueryOptions({
    queryKey: ['activity', filter],
    queryFn: ({ pageParam }) =>
      client.activity.list({
        ...(actor !== undefined && { actorId: actor }),
        ...(chosen.length > 0 && { kinds: [...chosen] }),
        ...(project !== undefined && { projectId: project.toUpperCase() }),
        ...(story !== undefined && { storyId: story.toUpperCase() }),
        ...(since !== undefined && { since: parseSince(since, serverNow()) }),
        ...{ limit: 50, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
};
