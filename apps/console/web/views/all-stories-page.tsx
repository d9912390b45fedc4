/** The stories of all projects. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type BoardSearch, type Sorting } from '../board/filter.ts';
import { FilterBar } from '../board/filter-bar.tsx';
import { useExpiringLeaseRefresh } from '../board/leases.ts';
import { useOpeningViewId } from '../board/opening-view.ts';
import { type Board } from '../data/boards.ts';
import { type StorySearchParams } from '../data/card-source.ts';
import { useConsole } from '../data/context.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import OpenView from './open-view.tsx';
import { Stories } from './stories.tsx';
import ViewControls from './view-controls.tsx';

const storiesRoute = getRouteApi('/stories');

const only = <Value,>(values: readonly Value[] | undefined): Value | undefined =>
  values?.length === 1 ? values[0] : undefined;

const idPattern = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
const searchOrders: Partial<Record<Sorting, StorySearchParams['sort']>> = { created: 'created' };

/**
 * Returns the filters that the API applies. It takes one value for each, so filters with several values are applied in
 * the browser only.
 */
function toStorySearch({
  q,
  who,
  label,
  status,
  epic,
  column,
  parent,
  due,
  waits,
  sort,
}: BoardSearch): StorySearchParams {
  const [oneLabel, oneAssignee] = [only(label), only(who)];
  const query = q?.trim().slice(0, 200);
  // A due filter leaves only stories that have a due date, which this order needs.
  const order = due !== undefined && sort === 'dueDate' ? 'dueDate' : searchOrders[sort ?? 'updated'];
  return {
    ...(oneAssignee === 'me' && { assigneeId: 'me' }),
    ...(oneLabel !== undefined && { label: oneLabel }),
    ...(status !== undefined && { status: [...status] }),
    ...(epic !== undefined && idPattern.test(epic) && { epicId: epic }),
    ...(column !== undefined && idPattern.test(column) && { columnId: column }),
    ...(parent !== undefined && idPattern.test(parent) && { parentId: parent }),
    ...(due !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(due) && { dueBefore: due }),
    ...(waits !== undefined && { hasOpenBlockers: waits }),
    // The API looks for the whole text, and the browser for each word.
    ...(query !== undefined && query !== '' && !/\s/.test(query) && { query }),
    ...(order !== undefined && { sort: order }),
  };
}

const debounceMs = 300;

/** Returns the value once it has not changed for a moment. */
function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), debounceMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Opens the search while the page shows it. Returns the board of the previous search until the new one has loaded. */
function useSearchBoard(search: BoardSearch): { readonly board: Board | null; readonly isOutdated: boolean } {
  const { boards } = useConsole();
  const wanted = JSON.stringify(toStorySearch(search));
  const opened = useDebounced(wanted);
  const [shown, setShown] = useState<{ readonly board: Board; readonly search: string } | null>(null);
  useEffect(() => {
    const board = boards.openSearch(JSON.parse(opened) as StorySearchParams);
    const show = (): void =>
      setShown((last) =>
        last === null || (last.board !== board && board.view().state !== 'loading')
          ? { board, search: opened }
          : last,
      );
    show();
    const unsubscribe = board.subscribe(show);
    return () => {
      unsubscribe();
      boards.closeSearch(board);
    };
  }, [boards, opened]);
  return { board: shown?.board ?? null, isOutdated: shown?.search !== wanted };
}

interface SearchedStoriesProps {
  readonly board: Board;
  /** True if the board is of the previous search. */
  readonly isOutdated: boolean;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
}

function SearchedStories({ board, isOutdated, search, onSearchChange }: SearchedStoriesProps) {
  const current = useSyncExternalStore(board.subscribe, board.view);
  // Stories that match the new search may still be loading, so an empty list does not mean that there are none.
  const view = useMemo(
    () => (isOutdated && current.state === 'ready' ? { ...current, areAllCardsLoaded: false } : current),
    [current, isOutdated],
  );
  const filterInput = useRef<HTMLInputElement>(null);
  useExpiringLeaseRefresh(board);
  usePageShortcuts({ '/': () => filterInput.current?.focus() });
  const cards = useMemo(() => (view.state === 'ready' ? [...board.cards()] : []), [board, view]);
  return (
    <>
      <header className="page-head">
        <h1>{storyViewTexts.allStories}</h1>
        <span className="grow" />
        <FilterBar {...{ cards, search, onSearchChange }} inputRef={filterInput} hasStatus />
        <ViewControls projectKey={null} {...{ search, onSearchChange }} />
      </header>
      <Stories {...{ board, view, search, onSearchChange }} />
    </>
  );
}

function OpenedStories({ search, onSearchChange }: Omit<SearchedStoriesProps, 'board' | 'isOutdated'>) {
  const { board, isOutdated } = useSearchBoard(search);
  return board === null ? (
    <div className="page">
      <Loading label={storyViewTexts.loading} />
    </div>
  ) : (
    <SearchedStories {...{ board, isOutdated, search, onSearchChange }} />
  );
}

export function AllStoriesPage() {
  const search = storiesRoute.useSearch();
  const navigate = useNavigate({ from: '/stories' });
  const openingViewId = useOpeningViewId(search, null);
  useTitle(storyViewTexts.allStories);
  const onSearchChange = (next: BoardSearch): void => void navigate({ search: next, replace: true });
  return openingViewId === undefined ? (
    <OpenedStories {...{ search, onSearchChange }} />
  ) : (
    <OpenView
      viewId={openingViewId}
      projectKey={null}
      isDefault={search.view === undefined}
      onOpen={onSearchChange}
    />
  );
}
