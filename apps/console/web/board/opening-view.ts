import { useConsole } from '../data/context.ts';
import { readDefaultView } from '../data/default-views.ts';
import { type BoardSearch } from './filter.ts';

/**
 * Returns the id of the saved view whose state the address does not contain yet: the one it names, or the default view
 * if the address is empty.
 */
export function useOpeningViewId(search: BoardSearch, projectKey: string | null): string | undefined {
  const { draftOwnerId } = useConsole().session;
  if (search.layout !== undefined) return undefined;
  if (search.view !== undefined) return search.view;
  const isEmpty = Object.keys(search).length === 0;
  return isEmpty ? (readDefaultView(draftOwnerId, projectKey) ?? undefined) : undefined;
}
