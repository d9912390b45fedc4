/** The board of a project. */
import { getRouteApi } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useQuery } from '@tanstack/react-query';
import { type Epic } from '@muster/registry';
import { type Board, type BoardView as BoardState } from '../data/boards.ts';
import { useClient, useConsole } from '../data/context.ts';
import { epicsQuery } from '../data/queries.ts';
import { useRoleIn } from '../data/roles.ts';
import { resendUnanswered } from '../data/unanswered.ts';
import { usePageKeys } from '../components/keys.ts';
import { lazyComponent } from '../components/lazily.ts';
import { announce, announceQuietly, notify, errorText } from '../components/notices.tsx';
import { LoadError, SlowNotice, WhileOffline } from '../components/states.tsx';
import { useStableCallback } from '../components/steady.ts';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';
import { handleCardKey } from './card-keys.ts';
import { useCardMenu } from './card-menu.ts';
import { useCardChooser } from './choosing.tsx';
import { Column } from './column.tsx';
import { useDragging } from './drag.ts';
import { useFilteredLanes } from './found.ts';
import { BoardHead } from './head.tsx';
import { useLeaseRefresh } from './leases.ts';
import { useCardMoves } from './moving.ts';
import { cardOf, useCardFocus } from './walking.ts';

const SelectionBar = lazyComponent(() => import('./selection-bar.tsx'));
const BoardStart = lazyComponent(() => import('./board-start.tsx'));
const route = getRouteApi('/p/$projectKey');

export function BoardPage() {
  const { projectKey } = route.useParams();
  const { boards } = useConsole();
  const board = boards.of(projectKey.toUpperCase());
  // The React key resets all state when another board opens.
  return <BoardView key={board.projectId} board={board} />;
}

const Placeholders = () => (
  <div className="board-loading" role="status" aria-busy="true" aria-label={t.board.loading}>
    <WhileOffline otherwise={<SlowNotice again={resendUnanswered} />}>{t.failed.waits}</WhileOffline>
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

function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
    announce(t.select.count(next.size));
  };
  return { selected, setSelected, toggle };
}

/** Announces changes by others, at a limited rate. */
function useAnnounceChanges(board: Board, { fresh, lanes }: Pick<BoardState, 'fresh' | 'lanes'>): void {
  useEffect(() => {
    for (const id of fresh) {
      const card = board.card(id);
      const column = lanes.find((lane) => lane.column.id === card?.columnId)?.column;
      if (card !== undefined && column !== undefined) announceQuietly(t.move.changed(card.key, column.name));
    }
  }, [board, fresh, lanes]);
}

function useQuickAdd(board: Board) {
  const [addingIn, setAddingIn] = useState<string | null>(null);
  const add = useStableCallback(async (title: string, columnId: string): Promise<void> => {
    try {
      const card = await board.create(title, columnId);
      if (card !== undefined) announce(t.move.created(card.key));
    } catch (error) {
      notify({ tone: 'bad', title: t.move.notCreated, body: errorText(error) });
      throw error;
    }
  });
  return { addingIn, setAddingIn, add };
}

function useEpics(projectKey: string): ReadonlyMap<string, Epic> | undefined {
  const { data } = useQuery(epicsQuery(useClient(), projectKey));
  return useMemo(() => data && new Map(data.map((epic) => [epic.id, epic])), [data]);
}

/** Returns the state of the board, kept current and announced while its page is open. */
function useBoard(board: Board) {
  const view = useSyncExternalStore(board.subscribe, board.view);
  const { mayWrite: canWrite } = useRoleIn(view.project);
  useTitle(view.project?.name ?? t.board.title);
  useLeaseRefresh(board);
  useAnnounceChanges(board, view);
  const epics = useEpics(board.projectId);
  const allCards = useMemo(() => view.standing.flatMap(({ cards }) => cards), [view.standing]);
  return { view, canWrite, epics, allCards };
}

function useBoardKeys(field: RefObject<HTMLInputElement | null>, walkIn: () => void, add: () => void): void {
  usePageKeys({
    ...{ '/': () => field.current?.focus(), c: add },
    ...{ ArrowDown: walkIn, ArrowRight: walkIn, j: walkIn, l: walkIn },
  });
}

/** Keys that are typed while a menu loads are meant for the menu and do nothing to the card. */
function holdKeysForMenu(giveUp: () => void, event: KeyboardEvent): void {
  if (event.key === 'Escape') giveUp();
  event.preventDefault();
  event.stopPropagation();
}

/** The props of a column that does not contain the focused card. */
const inactive = { activeId: null, reachedId: null, movingId: null };

function BoardView({ board }: { readonly board: Board }) {
  const { view, canWrite, epics, allCards } = useBoard(board);
  const search = route.useSearch();
  const area = useRef<HTMLDivElement>(null);
  const filterField = useRef<HTMLInputElement>(null);
  const { project, isWhole, state } = view;
  const { selected, setSelected, toggle } = useSelection();
  const { addingIn, setAddingIn, add } = useQuickAdd(board);
  const moves = useCardMoves(board);
  const { moving, move } = moves;
  const { lanes, filtered } = useFilteredLanes(view.lanes, search, area);
  const walking = useCardFocus(lanes, area, moving !== null);
  const { activeId, activeLane, reachedId, focusCard, walkIn } = walking;
  const menu = useCardChooser({ board, lanes: view.lanes, selected, move, focusCard, setSelected });
  const over = useDragging(area, (cardId, place) => {
    const card = board.card(cardId);
    if (card !== undefined && place.beforeId !== cardId) void move(card, place);
  });
  const menuOf = useCardMenu(view.lanes, canWrite, {
    ...{ move, choose: menu.choose, toggle, isSelected: (id) => selected.has(id) },
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const card = board.card(cardOf(event) ?? '');
    if (card === undefined) return;
    const clearSelection = selected.size > 0 ? () => setSelected(new Set()) : undefined;
    if (menu.isChoosing) holdKeysForMenu(menu.giveUp, event);
    else
      handleCardKey(
        { lanes, canWrite, moves, focusCard, toggle, choose: menu.choose, clearSelection },
        card,
        event,
      );
  };
  useBoardKeys(filterField, walkIn, () => {
    if (canWrite) setAddingIn((activeLane ?? lanes[0])?.column.id ?? null);
  });

  const isEmpty =
    isWhole && canWrite && addingIn === null && lanes.every(({ cards }) => cards.length === 0) && !filtered;
  if (state === 'failed') return <LoadError error={view.failure} again={() => void board.read()} isPage />;
  return (
    <>
      <BoardHead {...{ project, search }} cards={allCards} field={filterField} isMoving={moving !== null} />
      {selected.size > 0 && (
        <SelectionBar board={board} lanes={view.lanes} selected={selected} onSelect={setSelected} />
      )}
      {isEmpty && (
        <BoardStart projectKey={board.projectId} onAdd={() => setAddingIn(lanes[0]?.column.id ?? null)} />
      )}
      {state === 'loading' ? (
        <Placeholders />
      ) : (
        // The cards inside this element are focusable and react to keys. The element only observes the events
        // that bubble up from them.
        <div
          ref={area}
          className="board"
          data-moving={moving !== null || undefined}
          onKeyDown={onKeyDown}
          onFocus={walking.onFocus}
        >
          {lanes.map((lane, at) => (
            <Column
              key={lane.column.id}
              {...{ lane, isWhole, canWrite, selected, menuOf, epics }}
              count={view.lanes[at]?.cards.length ?? 0}
              isFiltered={filtered}
              {...(lane === activeLane
                ? { activeId, reachedId, movingId: moving?.card.id ?? null }
                : inactive)}
              fresh={view.fresh}
              over={over?.columnId === lane.column.id ? over : null}
              isAdding={addingIn === lane.column.id}
              onAdding={setAddingIn}
              onAdd={add}
            />
          ))}
        </div>
      )}
      {menu.chooser(() => area.current)}
    </>
  );
}
