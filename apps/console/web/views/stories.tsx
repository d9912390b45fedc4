/** The stories of a board or search in the layout of a view, with everything one can do with them. */
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { type Project, type StoryCard } from '@muster/contract';
import { type BoardSearch, type Sorting } from '../board/filter.ts';
import { useCardMoves } from '../board/moving.ts';
import { type Board, type BoardView } from '../data/boards.ts';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { usePermissionsIn, useWritableProjects } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { lazyComponent } from '../components/lazily.ts';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useStableCallback } from '../components/steady.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import { type ArrangedStories, useArrangedStories } from './arranged.ts';
import { type Arrangement, arrangementOf } from './arrangement.ts';
import { useDensity } from './density.ts';
import { flattenGroups, type StoryItem } from './grouping.ts';
import { useStoryActions } from './story-actions.tsx';
import { StoryRows } from './story-rows.tsx';
import { useTimelineScale } from './timeline.tsx';

const GroupBoard = lazyComponent(() => import('./group-board.tsx'));

/** Returns whether the viewer may change a story. */
function useMayWrite(project: Project | null, isOfAllProjects: boolean): (card: StoryCard) => boolean {
  const { mayWrite } = usePermissionsIn(project);
  const writable = useWritableProjects();
  return useStableCallback((card: StoryCard) =>
    isOfAllProjects ? writable.has(projectKeyOf(card.key)) : mayWrite,
  );
}

type StoryItemOfCard = Extract<StoryItem, { type: 'story' }>;

/** Tracks the focused row of a list and moves the focus by keys. */
function useRowFocus(items: readonly StoryItem[], area: RefObject<HTMLElement | null>) {
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const [reachedKey, setReachedKey] = useState<string | null>(null);
  const stories = useMemo(
    () => items.filter((item): item is StoryItemOfCard => item.type === 'story'),
    [items],
  );
  const elementOf = (key: string): HTMLElement | null =>
    area.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
  const focusRow = (key: string): void => {
    // Renders synchronously, because the next key may be pressed within the same frame.
    flushSync(() => {
      setActiveKey(key);
      setReachedKey(key);
    });
    elementOf(key)?.focus();
  };
  // A story that moves to another group keeps the focus.
  const focused = useRef<string>(undefined);
  useLayoutEffect(() => {
    const id = focused.current;
    if (id === undefined || document.activeElement !== document.body) return;
    const row = stories.find(({ key }) => key === activeKey) ?? stories.find(({ card }) => card.id === id);
    if (row === undefined) return;
    if (row.key !== activeKey) setActiveKey(row.key);
    elementOf(row.key)?.focus({ preventScroll: true });
  });
  const focusCard = (id: string): void => {
    const active = stories.find(({ key }) => key === activeKey);
    const row = active?.card.id === id ? active : stories.find(({ card }) => card.id === id);
    if (row !== undefined) focusRow(row.key);
  };
  /** Focuses the row that had the focus last, or the first one. */
  const walkIn = (): void => {
    const row = stories.find(({ key }) => key === activeKey) ?? stories[0];
    if (row !== undefined) focusRow(row.key);
  };
  const walk = (key: string, direction: string): void => {
    const at = stories.findIndex((row) => row.key === key);
    const to = {
      ...{ up: at - 1, down: at + 1, first: 0, last: stories.length - 1 },
    }[direction];
    const row = to === undefined ? undefined : stories[to];
    if (row !== undefined) focusRow(row.key);
  };
  const onFocus = ({ target }: { readonly target: EventTarget }): void => {
    const { row: key, card } = target instanceof HTMLElement ? target.dataset : {};
    focused.current = card;
    if (key === undefined || key === activeKey) return;
    setActiveKey(key);
    setReachedKey(null);
  };
  return { stories, activeKey, reachedKey, focusRow, focusCard, walkIn, walk, onFocus };
}

interface StoriesProps {
  readonly board: Board;
  readonly view: BoardView;
  readonly search: BoardSearch;
  readonly onSearchChange: (search: BoardSearch) => void;
}

/** Renders the notice that not all stories of a search are loaded. */
const TruncatedNotice = ({ board, count }: { readonly board: Board; readonly count: number }) => (
  <p className="story-more">
    <span className="muted">{storyViewTexts.truncated(count)}</span>
    <button type="button" className="button" onClick={() => void board.loadMore()}>
      {storyViewTexts.more}
    </button>
  </p>
);

interface ArrangedProps extends StoriesProps {
  readonly arrangement: Arrangement;
  readonly arranged: ArrangedStories;
  readonly canWrite: (card: StoryCard) => boolean;
}

/** Rows in groups. */
function StoryRowsPart(props: ArrangedProps) {
  const { board, view, search, onSearchChange, arrangement, arranged, canWrite } = props;
  const { layout, grouping, sorting, columns } = arrangement;
  const area = useRef<HTMLDivElement>(null);
  const density = useDensity();
  const [collapsedIds, setCollapsedIds] = useState<ReadonlySet<string>>(new Set());
  const items = useMemo(
    () => flattenGroups(arranged.groups, arranged.field, collapsedIds),
    [arranged.groups, arranged.field, collapsedIds],
  );
  const scale = useTimelineScale(arranged, layout === 'timeline', area);
  const rows = useRowFocus(items, area);
  const { selectedIds, ...actions } = useStoryActions({
    ...{ board, view, canWrite, moves: useCardMoves(board), focusCard: rows.focusCard },
    getFocusedId: () => rows.stories.find(({ key }) => key === rows.activeKey)?.card.id,
    getCards: () => rows.stories.map(({ card }) => card),
    walk: (from, _card, direction) => rows.walk(from.dataset['row'] ?? '', direction),
    getArea: () => area.current,
  });
  usePageShortcuts({ ArrowDown: rows.walkIn, j: rows.walkIn });
  const toggleGroup = (id: string): void => {
    const next = new Set(collapsedIds);
    if (!next.delete(id)) next.add(id);
    setCollapsedIds(next);
  };
  return (
    <>
      {actions.toolbar}
      {/* The rows inside this element are focusable and react to keys. */}
      <div
        ref={area}
        className="story-scroll"
        onKeyDown={actions.onKeyDown}
        onFocus={rows.onFocus}
        onContextMenu={actions.onContextMenu}
      >
        <StoryRows
          items={items}
          columns={layout === 'table' ? columns : undefined}
          scale={scale}
          {...{ grouping, sorting, density, selectedIds, collapsedIds, canWrite }}
          context={arranged}
          scroller={area}
          activeKey={rows.activeKey}
          reachedKey={rows.reachedKey}
          recentlyChangedIds={view.fresh}
          onToggleGroup={toggleGroup}
          onToggleSelection={actions.toggleRange}
          onChoose={actions.choose}
          onSort={(sort: Sorting) => onSearchChange({ ...search, sort })}
        />
        {view.hasMore && <TruncatedNotice board={board} count={arranged.allCards.length} />}
      </div>
      {actions.menus}
    </>
  );
}

export function Stories(props: StoriesProps) {
  const { board, view, search } = props;
  const isOfAllProjects = board.projectId === null;
  const arrangement = arrangementOf(search, isOfAllProjects);
  const arranged = useArrangedStories(board, view, search, arrangement);
  const canWrite = useMayWrite(view.project, isOfAllProjects);
  const projects = useQuery(projectsQuery(useClient()));
  if (view.state === 'failed') return <LoadError error={view.failure} onRetry={() => void board.reload()} />;
  if (view.state === 'loading' || projects.isPending)
    return (
      <div className="page">
        <Loading label={storyViewTexts.loading} rows={10} />
      </div>
    );
  if (arranged.matchCount === 0 && view.areAllCardsLoaded && !view.hasMore)
    return (
      <EmptyState title={arranged.isFiltered ? storyViewTexts.noMatch : storyViewTexts.empty}>
        <p>{arranged.isFiltered ? storyViewTexts.noMatchWhy : storyViewTexts.emptyWhy}</p>
      </EmptyState>
    );
  const parts = { ...props, arrangement, arranged, canWrite };
  // The React key resets focus and folded groups when the arrangement changes.
  const arrangementKey = `${arrangement.layout} ${arrangement.grouping}`;
  return (
    <>
      <p className="sr-only" role="status">
        {arranged.isFiltered
          ? storyViewTexts.shown(arranged.matchCount, arranged.allCards.length)
          : storyViewTexts.count(arranged.matchCount)}
      </p>
      {arrangement.layout === 'board' ? (
        <GroupBoard key={arrangementKey} {...parts} />
      ) : (
        <StoryRowsPart key={arrangementKey} {...parts} />
      )}
    </>
  );
}
