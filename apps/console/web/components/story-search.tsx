/** Suggests stories of a project that match the text in a field. */
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';

type FoundStories = ResultOf<Registry['search']['find']>['items'];
const minQueryLength = 2;

export function useFoundStories(projectId: string, searchText: string): FoundStories {
  const { search } = useClient();
  const query = useDeferredValue(searchText.trim());
  const { data = [] } = useQuery({
    queryKey: ['found', projectId, query],
    queryFn: async () => (await search.find({ query, projectId, kinds: ['story'], limit: 12 })).items,
    enabled: query.length >= minQueryLength,
    staleTime: 5_000,
  });
  return data;
}

export const StoryOptions = ({ id, stories }: { readonly id: string; readonly stories: FoundStories }) => (
  <datalist id={id}>
    {stories.map((story) => (
      <option key={story.id} value={story.key ?? ''}>
        {story.title}
      </option>
    ))}
  </datalist>
);
