import { infiniteQueryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type EventKind } from '@muster/registry';
import { type ActivityFilter } from '../data/trail-filter.ts';
import { sinceOf } from './trail-bounds.ts';
import { serverNow } from '../data/time.ts';
import { activityTexts, eventKinds } from '../messages/activity.ts';

export type KindGroup = keyof typeof activityTexts.groups;

/** The group of a kind of event, by its subject. */
const groupOf: Readonly<Record<string, KindGroup>> = {
  ...{ story: 'stories', epic: 'stories', spec: 'specs', contract: 'specs', prompt: 'specs' },
  ...{ comment: 'comments', reviewer: 'reviews', review: 'reviews', assignment: 'reviews' },
  ...{ execution: 'work', run: 'work', lock: 'work', lease: 'work', group: 'work' },
  ...{ member: 'people', invitation: 'people', team: 'people', access: 'people', broadcast: 'people' },
};

/** Lists the matching kinds: one kind, those of a group, or none if the value is unknown. */
export function kindsOf(kind: string): readonly EventKind[] {
  if (!(kind in activityTexts.groups)) return eventKinds.filter((one) => one === kind);
  return eventKinds.filter((one) => (groupOf[one.split('.')[0] ?? ''] ?? 'setup') === kind);
}

/** Queries the filtered activity. An unknown kind is ignored. */
export const activityQuery = (client: Client, filter: ActivityFilter) => {
  const { actor, kind, project, story, since } = filter;
  const chosen = kind === undefined ? [] : kindsOf(kind);
  return infiniteQueryOptions({
    queryKey: ['activity', filter],
    queryFn: ({ pageParam }) =>
      client.activity.list({
        ...(actor !== undefined && { actorId: actor }),
        ...(chosen.length > 0 && { kinds: [...chosen] }),
        ...(project !== undefined && { projectId: project.toUpperCase() }),
        ...(story !== undefined && { storyId: story.toUpperCase() }),
        ...(since !== undefined && { since: sinceOf(since, serverNow()) }),
        ...{ limit: 50, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
};
