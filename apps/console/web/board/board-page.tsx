/** The board of a project. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useQuery } from '@tanstack/react-query';
import { type Epic } from '@muster/contract';
import { type Board, type BoardView as BoardState } from '../data/boards.ts';
import { useClient, useConsole } from '../data/context.ts';
import { epicsQuery } from '../data/queries.ts';
import { usePermissionsIn } from '../data/roles.ts';
import { resendUnansweredRequests } from '../data/unanswered.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { lazyComponent } from '../components/lazily.ts';
import {
  announceToScreenReader,
  announceRateLimited,
  showNotice,
  errorText,
} from '../components/notices.tsx';
import { LoadError, SlowNotice, OfflineNotice } from '../components/states.tsx';
import { useStableCallback } from '../components/steady.ts';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';
import { useStoryActions } from '../views/story-actions.tsx';
import { Column } from './column.tsx';
import { useDropPosition } from './drag.ts';
import { isPlainBoard } from './filter.ts';
import { useOpeningViewId } from './opening-view.ts';
import { useFilteredLanes } from './found.ts';
import { BoardHead } from './head.tsx';
import { useExpiringLeaseRefresh } from './leases.ts';
import { useCardMoves } from './moving.ts';
import { useCardFocus } from './walking.ts';

const ProjectView = lazyComponent(
  () => import('../views/project-view.tsx'),
  () => <BoardSkeleton />,
);
const OpenView = lazyComponent(() => import('../views/open-view.tsx'));
const FirstStepsPanel = lazyComponent(() => import('./board-start.tsx'));
const boardRoute = getRouteApi('/p/$projectKey');

export function BoardPage() {
  const { projectKey } = boardRoute.useParams();
  // The React key resets all state when another board opens.
  return <ProjectStories key={projectKey} projectKey={projectKey.toUpperCase()} />;
}

/** The stories of a project: its board, or another layout. */
function ProjectStories({ projectKey }: { readonly projectKey: string }) {
  const board = useConsole().boards.getOrCreate(projectKey);
  const view = useSyncExternalStore(board.subscribe, board.view);
  const search = boardRoute.useSearch();
  const navigate = useNavigate({ from: '/p/$projectKey' });
  const openingViewId = useOpeningViewId(search, projectKey);
  const filterInput = useRef<HTMLInputElement>(null);
  const [isMoving, setMoving] = useState(false);
  useTitle(view.project?.name ?? t.board.title);
  useExpiringLeaseRefresh(board);
  usePageShortcuts({ '/': () => filterInput.current?.focus() });
  const allCards = useMemo(() => view.serverLanes.flatMap(({ cards }) => cards), [view.serverLanes]);
  if (view.state === 'failed')
    return <LoadError error={view.failure} onRetry={() => void board.reload()} isPage />;
  if (openingViewId !== undefined)
    return (
      <OpenView
        viewId={openingViewId}
        projectKey={projectKey}
        isDefault={search.view === undefined}
        onOpen={(next) => void navigate({ search: next, replace: true })}
      />
    );
  const props = { board, view, projectKey };
  return (
    <>
      <BoardHead
        {...{ project: view.project, search, isMoving }}
        cards={allCards}
        filterInputRef={filterInput}
      />
      {isPlainBoard(search) ? (
        <BoardView {...props} onMovingChange={setMoving} />
      ) : (
        <ProjectView {...props} />
      )}
    </>
  );
}

const BoardSkeleton = () => (
  <div className="board-loading" role="status" aria-busy="true" aria-label={t.board.loading}>
    <OfflineNotice whileOnline={<SlowNotice again={resendUnansweredRequests} />}>
      {t.failed.waits}
    </OfflineNotice>
    <div className="board">
      {Array.from({ length: 5 }, (_, column) => (
        <div key={column} className="column">
          <div className="skeleton" style={{ blockSize: '6rem' }} />
          <div className="skeleton" style={{ blockSize: '5rem', marginBlockStart: 'var(--s2)' }} />
        </div>
      ))}
    </div>
  </div>
);

/** Announces changes by others, at a limited rate. */
function useAnnounceChanges(board: Board, { fresh, lanes }: Pick<BoardState, 'fresh' | 'lanes'>): void {
  useEffect(() => {
    for (const id of fresh) {
      const card = board.card(id);
      const column = lanes.find((lane) => lane.column.id === card?.columnId)?.column;
      if (card !== undefined && column !== undefined)
        announceRateLimited(t.move.changed(card.key, column.name));
    }
  }, [board, fresh, lanes]);
}

function useQuickAdd(board: Board) {
  const [addingIn, setAddingIn] = useState<string | null>(null);
  const add = useStableCallback(async (title: string, columnId: string): Promise<void> => {
    try {
      const card = await board.create(title, columnId);
      if (card !== undefined) announceToScreenReader(t.move.created(card.key));
    } catch (error) {
      showNotice({ tone: 'bad', title: t.move.notCreated, body: errorText(error) });
      throw error;
    }
  });
  return { addingIn, setAddingIn, add };
}

function useEpicsById(projectKey: string): ReadonlyMap<string, Epic> | undefined {
  const { data } = useQuery(epicsQuery(useClient(), projectKey));
  return useMemo(() => data && new Map(data.map((epic) => [epic.id, epic])), [data]);
}

/** The props of a column that does not contain the focused card. */
const inactiveColumnProps = { activeId: null, reachedId: null, movingId: null };

interface BoardViewProps {
  readonly board: Board;
  readonly view: BoardState;
  readonly projectKey: string;
  readonly onMovingChange: (isMoving: boolean) => void;
}

function BoardView({ board, view, projectKey, onMovingChange }: BoardViewProps) {
  const { mayWrite: canWrite } = usePermissionsIn(view.project);
  useAnnounceChanges(board, view);
  const epics = useEpicsById(projectKey);
  const search = boardRoute.useSearch();
  const area = useRef<HTMLDivElement>(null);
  const { areAllCardsLoaded, state } = view;
  const { addingIn, setAddingIn, add } = useQuickAdd(board);
  const { lanes, filtered } = useFilteredLanes(view.lanes, search, area);
  const moves = useCardMoves(board);
  const { moving } = moves;
  const { activeId, activeLane, reachedId, focusCard, onFocus, walk, walkIn } = useCardFocus(
    lanes,
    area,
    moving !== null,
  );
  const { selectedIds, ...actions } = useStoryActions({
    ...{ board, view, lanes, moves, focusCard, walk, canWrite: () => canWrite },
    getCards: () => lanes.flatMap(({ cards }) => cards),
    getFocusedId: () => activeId,
    getArea: () => area.current,
  });
  const dropPosition = useDropPosition(area, (cardId, place) => {
    const card = board.card(cardId);
    if (card !== undefined && place.beforeId !== cardId) void moves.move(card, place);
  });
  useEffect(() => onMovingChange(moving !== null), [onMovingChange, moving]);
  usePageShortcuts({ ArrowDown: walkIn, ArrowRight: walkIn, j: walkIn, l: walkIn });

  const isEmpty =
    areAllCardsLoaded &&
    canWrite &&
    addingIn === null &&
    lanes.every(({ cards }) => cards.length === 0) &&
    !filtered;
  return (
    <>
      {actions.toolbar}
      {isEmpty && (
        <FirstStepsPanel projectKey={projectKey} onAdd={() => setAddingIn(lanes[0]?.column.id ?? null)} />
      )}
      {state === 'loading' ? (
        <BoardSkeleton />
      ) : (
        // The cards inside this element are focusable and react to keys. The element only observes the events
        // that bubble up from them.
        <div
          ref={area}
          className="board"
          data-moving={moving !== null || undefined}
          onKeyDown={actions.onKeyDown}
          onFocus={onFocus}
          onContextMenu={actions.onContextMenu}
        >
          {lanes.map((lane, at) => (
            <Column
              key={lane.column.id}
              lane={lane}
              areAllCardsLoaded={areAllCardsLoaded}
              canWrite={canWrite}
              selectedIds={selectedIds}
              menuItemsOf={actions.menuItemsOf}
              epicsById={epics}
              totalCards={view.lanes[at]?.cards.length ?? 0}
              isFiltered={filtered}
              {...(lane === activeLane
                ? { activeId, reachedId, movingId: moving?.card.id ?? null }
                : inactiveColumnProps)}
              recentlyChangedIds={view.fresh}
              dropPosition={dropPosition?.columnId === lane.column.id ? dropPosition : null}
              isQuickAddOpen={addingIn === lane.column.id}
              onQuickAddChange={setAddingIn}
              onAdd={add}
            />
          ))}
        </div>
      )}
      {actions.menus}
    </>
  );
}
