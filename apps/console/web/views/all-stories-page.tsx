/** The stories of all projects. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
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

/** Opens the search while the page shows it. */
function useSearchBoard(search: BoardSearch): Board | null {
  const { boards } = useConsole();
  const wanted = JSON.stringify(toStorySearch(useDeferredValue(search)));
  const [board, setBoard] = useState<Board | null>(null);
  useEffect(() => {
    const opened = boards.openSearch(JSON.parse(wanted) as StorySearchParams);
    setBoard(opened);
    return () => boards.closeSearch(opened);
  }, [boards, wanted]);
  return board;
}

interface SearchedStoriesProps {
  readonly board: Board;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
}

function SearchedStories({ board, search, onSearchChange }: SearchedStoriesProps) {
  const view = useSyncExternalStore(board.subscribe, board.view);
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

function OpenedStories({ search, onSearchChange }: Omit<SearchedStoriesProps, 'board'>) {
  const board = useSearchBoard(search);
  return board === null ? (
    <div className="page">
      <Loading label={storyViewTexts.loading} />
    </div>
  ) : (
    <SearchedStories {...{ board, search, onSearchChange }} />
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
