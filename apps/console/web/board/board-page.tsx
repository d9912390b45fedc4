/** The board of a project. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import {
  type FocusEvent,
  type KeyboardEvent,
  lazy,
  Suspense,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { flushSync } from 'react-dom';
import { type StoryCard } from '@muster/registry';
import { type Board } from '../data/boards.ts';
import { useConsole } from '../data/context.ts';
import { type Place } from '../data/lanes.ts';
import { useRoleIn } from '../data/roles.ts';
import { type Choosing, choosingOf } from '../parts/choosing.ts';
import { Icon } from '../parts/icons.tsx';
import { usePageKeys, isSingle } from '../parts/keys.ts';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { announce, announceQuietly, notify, reasonFor } from '../parts/notices.tsx';
import { Failed } from '../parts/states.tsx';
import { useSteady } from '../parts/steady.ts';
import { useTitle } from '../parts/title.ts';
import { t } from '../texts/index.ts';
import { Column } from './column.tsx';
import { useChoosing } from './choosing.tsx';
import { useDragging } from './drag.ts';
import { fits, isFiltered } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { useLeasesKept } from './leases.ts';
import { useMoving } from './moving.ts';
import { spotOf, stepOf, stepTo } from './walk.ts';

const SelectionBar = lazy(() => import('./selection-bar.tsx'));
const route = getRouteApi('/p/$projectKey');

export function BoardPage() {
  const { projectKey } = route.useParams();
  const { boards } = useConsole();
  const board = boards.of(projectKey.toUpperCase());
  // Another board is another page, with nothing left of the last one.
  return <BoardView key={board.projectId} board={board} />;
}

function BoardView({ board }: { readonly board: Board }) {
  const view = useSyncExternalStore(board.subscribe, board.view);
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/p/$projectKey' });
  const area = useRef<HTMLDivElement>(null);
  const filterField = useRef<HTMLInputElement>(null);
  const [activeId, setActiveId] = useState<string | null>(null);
  /** The card that a key led to last: it is brought into view. */
  const [reachedId, setReachedId] = useState<string | null>(null);
  const [addingIn, setAddingIn] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const wantsFocus = useRef(false);
  const { moving, begin, step, drop, giveUp, move } = useMoving(board);
  const { project, isWhole } = view;
  useTitle(project?.name ?? t.board.title);
  useLeasesKept(board);

  // Typing in the filter goes before what it finds.
  const filter = useDeferredValue(search);
  const filtered = isFiltered(filter);
  const lanes = useMemo(
    () =>
      filtered
        ? view.lanes.map(({ column, cards }) => ({
            column,
            cards: cards.filter((card) => fits(card, filter)),
          }))
        : view.lanes,
    [view.lanes, filter, filtered],
  );
  const allCards = useMemo(() => view.standing.flatMap(({ cards }) => cards), [view.standing]);
  const counts = new Map(view.lanes.map(({ column, cards }) => [column.id, cards.length]));
  const activeLane = useMemo(
    () => (activeId === null ? undefined : lanes[spotOf(lanes, activeId)?.lane ?? -1]),
    [lanes, activeId],
  );
  const { mayWrite: canWrite } = useRoleIn(project);

  // What is found begins at the top.
  const shownFilter = useRef(filter);
  useLayoutEffect(() => {
    if (shownFilter.current === filter) return;
    shownFilter.current = filter;
    for (const column of area.current?.querySelectorAll('.column-scroll') ?? []) column.scrollTop = 0;
  }, [filter]);

  // A card that another moves keeps the focus of whoever is on it.
  useLayoutEffect(() => {
    if (activeId === null || !wantsFocus.current) return;
    const card = area.current?.querySelector<HTMLElement>(`[data-card="${activeId}"]`);
    if (card === undefined || card === null || card === document.activeElement) return;
    if (document.activeElement === document.body || moving !== null)
      card.focus({ preventScroll: moving === null });
  });
  useEffect(() => {
    for (const id of view.fresh) {
      const card = board.card(id);
      const column = view.lanes.find((lane) => lane.column.id === card?.columnId)?.column;
      if (card !== undefined && column !== undefined) announceQuietly(t.move.changed(card.key, column.name));
    }
  }, [board, view.fresh, view.lanes]);

  const over = useDragging(area, (cardId, place) => {
    const card = board.card(cardId);
    if (card !== undefined && place.beforeId !== cardId) void move(card, place);
  });

  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
    announce(t.select.count(next.size));
  };
  const focusCard = (id: string): void => {
    wantsFocus.current = true;
    // At once: the next key may come within the same frame, and goes to what has the focus.
    flushSync(() => {
      setActiveId(id);
      setReachedId(id);
    });
    area.current?.querySelector<HTMLElement>(`[data-card="${id}"]`)?.focus();
  };
  const {
    isChoosing,
    choose,
    giveUp: giveUpChoosing,
    chooser,
  } = useChoosing(board, move, focusCard, setSelected);
  /** Of a card that is selected with others, its status and priority are chosen for all of them. */
  const actedOn = (what: Choosing, card: StoryCard): readonly StoryCard[] =>
    selected.has(card.id) && (what === 'status' || what === 'priority')
      ? view.lanes.flatMap(({ cards }) => cards).filter(({ id }) => selected.has(id))
      : [card];
  const menuOf = useSteady((card: StoryCard): MenuItem[] => {
    const lane = view.lanes.find(({ column }) => column.id === card.columnId);
    const to = (place: Place) => () => void move(card, place);
    const columnId = card.columnId ?? '';
    const open = {
      ...{ id: 'open', name: t.board.open },
      run: () => void navigate({ to: '/s/$storyKey', params: { storyKey: card.key } }),
    };
    if (!canWrite || lane === undefined) return [open];
    const first = lane.cards.find(({ id }) => id !== card.id)?.id ?? null;
    return [
      open,
      {
        ...{ id: 'select', name: selected.has(card.id) ? t.select.not : t.select.one },
        run: () => toggle(card.id),
      },
      ...(['assignee', 'priority', 'reviewer'] as const).map((what) => ({
        ...{ id: what, name: t.choose[what] },
        run: () => choose(what, card, actedOn(what, card)),
      })),
      { id: 'top', name: t.board.moveTop, run: to({ columnId, beforeId: first }) },
      { id: 'bottom', name: t.board.moveBottom, run: to({ columnId, beforeId: null }) },
      ...view.lanes
        .filter(({ column }) => column.id !== columnId)
        .map(({ column }) => ({
          ...{ id: column.id, name: t.board.moveTo(column.name) },
          run: to({ columnId: column.id, beforeId: null }),
        })),
    ];
  });

  const add = useSteady(async (title: string, columnId: string): Promise<void> => {
    try {
      const card = await board.create(title, columnId);
      if (card !== undefined) announce(t.move.created(card.key));
    } catch (error) {
      notify({ tone: 'bad', title: t.move.notCreated, body: reasonFor(error) });
      throw error;
    }
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const id = event.target instanceof HTMLElement ? event.target.dataset['card'] : undefined;
    const card = id === undefined ? undefined : board.card(id);
    if (card === undefined) return;
    // The menu is on its way: what is typed meanwhile is for it, and does nothing to the card.
    if (isChoosing) {
      if (event.key === 'Escape') giveUpChoosing();
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (!isSingle(event)) return;
    const choice = choosingOf(event.key);
    const to = stepOf(event.key);
    if (moving !== null) {
      if (to !== undefined) step(lanes, to);
      else if (event.key === ' ' || event.key === 'Enter') drop();
      else if (event.key === 'Escape') giveUp();
      else return;
    } else if (to !== undefined) {
      const from = spotOf(lanes, card.id);
      const next = from === undefined ? undefined : stepTo(lanes, from, to);
      const found = next === undefined ? undefined : lanes[next.lane]?.cards[next.row];
      if (found !== undefined) focusCard(found.id);
    } else if (event.key === 'm' && canWrite) begin(lanes, card);
    else if (event.key === 'x' && canWrite) toggle(card.id);
    else if (choice !== undefined && canWrite) choose(choice, card, actedOn(choice, card));
    else if (event.key === 'Escape' && selected.size > 0) setSelected(new Set());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocus = (event: FocusEvent): void => {
    const id = event.target instanceof HTMLElement ? event.target.dataset['card'] : undefined;
    wantsFocus.current = id !== undefined;
    if (id === undefined) return;
    setActiveId(id);
    if (id !== reachedId) setReachedId(null);
  };
  const walkIn = (): void => {
    const card = lanes.find(({ cards }) => cards.length > 0)?.cards[0];
    const known = activeId !== null && spotOf(lanes, activeId) !== undefined ? activeId : card?.id;
    if (known !== undefined) focusCard(known);
  };

  usePageKeys({
    '/': () => filterField.current?.focus(),
    c: () => {
      if (!canWrite) return;
      const active = activeId === null ? undefined : spotOf(lanes, activeId);
      setAddingIn(lanes[active?.lane ?? 0]?.column.id ?? null);
    },
    ...{ ArrowDown: walkIn, ArrowRight: walkIn, j: walkIn, l: walkIn },
  });

  /** A page of the project. */
  const open = (page: 'epics' | 'health' | 'settings/people') => () =>
    void navigate({ to: `/p/${project?.key ?? ''}/${page}` });
  if (view.state === 'failed') return <Failed error={view.failure} again={() => void board.read()} />;
  return (
    <>
      <header className="page-head">
        <h1>{project?.name ?? t.board.loading}</h1>
        {moving !== null && <span className="move-hint">{t.move.hint}</span>}
        <span className="grow" />
        <FilterBar
          cards={allCards}
          search={search}
          field={filterField}
          onSearch={(next) => void navigate({ search: next, replace: true })}
        />
        {project !== null && (
          <Menu
            label={t.board.menu}
            className="icon-button"
            items={[
              { id: 'epics', name: t.board.epics, run: open('epics') },
              { id: 'health', name: t.board.health, run: open('health') },
              {
                id: 'activity',
                name: t.nav.activity,
                run: () => void navigate({ to: '/activity', search: { project: project.key } }),
              },
              { id: 'settings', name: t.board.settings, run: open('settings/people') },
            ]}
          >
            <Icon name="more" />
          </Menu>
        )}
      </header>
      {selected.size > 0 && (
        <Suspense fallback={null}>
          <SelectionBar board={board} lanes={view.lanes} selected={selected} onSelect={setSelected} />
        </Suspense>
      )}
      {project?.archivedAt != null && <p className="banner">{t.board.archived}</p>}
      {view.state === 'loading' ? (
        <div className="board" role="status" aria-busy="true" aria-label={t.board.loading}>
          {Array.from({ length: 5 }, (_, column) => (
            <div key={column} className="column">
              <div className="skeleton" style={{ blockSize: '6rem' }} />
              <div className="skeleton" style={{ blockSize: '5rem', marginBlockStart: 'var(--s2)' }} />
            </div>
          ))}
        </div>
      ) : (
        // Keys and the focus belong to the cards in it; the area only hears of them.
        <div
          ref={area}
          className="board"
          data-moving={moving !== null || undefined}
          onKeyDown={onKeyDown}
          onFocus={onFocus}
        >
          {lanes.map((lane) => (
            <Column
              key={lane.column.id}
              lane={lane}
              count={counts.get(lane.column.id) ?? 0}
              isWhole={isWhole}
              isFiltered={filtered}
              canWrite={canWrite}
              activeId={lane === activeLane ? activeId : null}
              reachedId={lane === activeLane ? reachedId : null}
              movingId={lane === activeLane ? (moving?.card.id ?? null) : null}
              selected={selected}
              fresh={view.fresh}
              over={over?.columnId === lane.column.id ? over : null}
              menuOf={menuOf}
              isAdding={addingIn === lane.column.id}
              onAdding={setAddingIn}
              onAdd={add}
            />
          ))}
        </div>
      )}
      {chooser(view.lanes, () => area.current)}
    </>
  );
}
