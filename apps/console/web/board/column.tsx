import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, type RefObject, useCallback, useId, useLayoutEffect, useRef } from 'react';
import { type BoardColumn, type Epic, type StoryCard } from '@muster/contract';
import { type TargetPosition } from '../data/lanes.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { EstimateSum } from '../components/story-facts.tsx';
import { t } from '../messages/index.ts';
import { Card } from './card.tsx';
import { useDraggable, useDropColumn } from './drag.ts';
import { QuickAdd } from './quick-add.tsx';

const estimatedCardHeightPx = 92;
const cardGapPx = 8;
/** The scroll offset of each column, restored when the board is opened again. */
const scrollOffsetByColumn = new Map<string, number>();

/** A column with its cards, or a group of cards that is shown as one. */
export interface ColumnLane {
  readonly column: Pick<BoardColumn, 'name' | 'wipLimit'> & {
    /** Unique among the columns and groups of all projects. */
    readonly id: string;
    /** The status that the icon of the column shows; null for groups by other fields. */
    readonly status: StoryCard['status'] | null;
  };
  readonly cards: readonly StoryCard[];
}

export interface ColumnProps {
  readonly lane: ColumnLane;
  /** The number of cards, including those that the filters hide. */
  readonly totalCards: number;
  readonly areAllCardsLoaded: boolean;
  readonly isFiltered: boolean;
  readonly canWrite: boolean;
  readonly activeId: string | null;
  /** The card that was last reached by a key. */
  readonly reachedId: string | null;
  readonly movingId: string | null;
  readonly selectedIds: ReadonlySet<string>;
  readonly recentlyChangedIds: ReadonlySet<string>;
  /** Epics by id; undefined while they load. */
  readonly epicsById: ReadonlyMap<string, Epic> | undefined;
  /** The position where a dragged card would be dropped. */
  readonly dropPosition: TargetPosition | null;
  readonly menuItemsOf: (card: StoryCard) => readonly MenuItem[];
  readonly isQuickAddOpen: boolean;
  /** Undefined if the column does not offer to add stories. */
  readonly onQuickAddChange: ((columnId: string | null) => void) | undefined;
  readonly onAdd: ((title: string, columnId: string) => Promise<void>) | undefined;
}

interface ColumnCardProps {
  readonly card: StoryCard;
  readonly isDragDisabled: boolean;
  readonly menuItemsOf: ColumnProps['menuItemsOf'];
  readonly children: ReactNode;
}

function ColumnCard({ card, isDragDisabled, menuItemsOf, children }: ColumnCardProps) {
  const place = useRef<HTMLDivElement>(null);
  useDraggable(place, card.id, isDragDisabled);
  return (
    <div ref={place} className="card-place">
      {children}
      <Menu
        label={t.board.cardMenu(card.key)}
        items={() => menuItemsOf(card)}
        className="icon-button card-menu"
        tabIndex={-1}
      >
        <Icon name="more" />
      </Menu>
    </div>
  );
}

function ColumnHeader({
  lane,
  totalCards,
  areAllCardsLoaded,
  isFiltered,
  canWrite,
  onQuickAddChange,
  headingId,
}: ColumnProps & { readonly headingId: string }) {
  const { column, cards } = lane;
  const isOver = column.wipLimit !== null && totalCards > column.wipLimit;
  return (
    <header className="column-head">
      {column.status !== null && <StatusIcon status={column.status} />}
      <h2 id={headingId} className="cut">
        {column.name}
      </h2>
      <span className="column-count tabular" data-over={isOver || undefined}>
        {isFiltered
          ? t.filter.found(cards.length, totalCards)
          : column.wipLimit === null
            ? totalCards.toLocaleString()
            : t.board.limit(totalCards, column.wipLimit)}
        {isOver && <span className="sr-only">, {t.board.overLimit}</span>}
      </span>
      {areAllCardsLoaded && <EstimateSum cards={cards} />}
      {canWrite && onQuickAddChange !== undefined && (
        <button
          type="button"
          className="icon-button column-add"
          aria-label={t.board.add(column.name)}
          title={t.board.add(column.name)}
          onClick={() => onQuickAddChange(column.id)}
        >
          <Icon name="plus" />
        </button>
      )}
    </header>
  );
}

/**
 * Selects the cards to render: those in view, and the card that Tab reaches, even if it is scrolled out of
 * view.
 */
function useVisibleCards(
  { lane, activeId, reachedId }: ColumnProps,
  scroller: RefObject<HTMLElement | null>,
) {
  const { column, cards } = lane;
  const active = cards.findIndex(({ id }) => id === activeId);
  const stop = Math.max(0, active);
  const virtualizer = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedCardHeightPx,
    // Keep the identity of this function stable. A new function would make the virtualizer recompute the
    // positions of all cards.
    getItemKey: useCallback((index: number) => cards[index]?.id ?? index, [cards]),
    overscan: 4,
    gap: cardGapPx,
    initialOffset: () => scrollOffsetByColumn.get(column.id) ?? 0,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const shown = defaultRangeExtractor(range);
        if (shown.includes(stop) || stop >= range.count) return shown;
        return [...shown, stop].toSorted((one, other) => one - other);
      },
      [stop],
    ),
  });
  const items = virtualizer.getVirtualItems();
  // The heights of cards that were never rendered are estimates. The virtualizer keeps scrolling until this
  // card is in view.
  useLayoutEffect(() => {
    if (reachedId !== null && active >= 0) virtualizer.scrollToIndex(active);
  }, [reachedId]);
  return { virtualizer, items, stop };
}

/** Places the line above the card that the dragged one would precede, or below all cards. */
const getDropLineOffset = (
  virtualizer: ReturnType<typeof useVisibleCards>['virtualizer'],
  index: number,
): number =>
  (index < 0 ? virtualizer.getTotalSize() + cardGapPx : (virtualizer.measurementsCache[index]?.start ?? 0)) -
  cardGapPx / 2;

function ColumnCards({
  lane,
  areAllCardsLoaded,
  canWrite,
  movingId,
  selectedIds,
  recentlyChangedIds,
  epicsById,
  dropPosition,
  menuItemsOf,
  visibleCards,
  isDropTarget,
}: ColumnProps & {
  readonly visibleCards: ReturnType<typeof useVisibleCards>;
  readonly isDropTarget: boolean;
}) {
  const { column, cards } = lane;
  const { virtualizer, items, stop } = visibleCards;
  const lineAt = getDropLineOffset(
    virtualizer,
    cards.findIndex(({ id }) => id === dropPosition?.beforeId),
  );
  return (
    <ul
      className="column-list"
      role="list"
      aria-label={t.board.stories(column.name)}
      style={{ blockSize: `${virtualizer.getTotalSize()}px` }}
    >
      {items.map(({ index, key, start }) => {
        const card = cards[index];
        if (card === undefined) return null;
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-setsize={areAllCardsLoaded ? cards.length : -1}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            <ColumnCard card={card} isDragDisabled={!canWrite} menuItemsOf={menuItemsOf}>
              <Card
                card={card}
                epic={card.epicId === null ? undefined : epicsById?.get(card.epicId)}
                isActive={index === stop}
                isMoving={card.id === movingId}
                isRecentlyChanged={recentlyChangedIds.has(card.id)}
                isSelected={selectedIds.has(card.id)}
              />
            </ColumnCard>
          </li>
        );
      })}
      {isDropTarget && (
        <li className="drop-line" role="presentation" style={{ insetBlockStart: `${lineAt}px` }} />
      )}
    </ul>
  );
}

/** A column that renders again only if one of its own props changed; all other props are stable. */
export const Column = memo(function Column(props: ColumnProps) {
  const { lane, areAllCardsLoaded, isFiltered, dropPosition, onAdd, onQuickAddChange } = props;
  const { column, cards } = lane;
  const headingId = useId();
  const section = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const visibleCards = useVisibleCards(props, scroller);
  const { items, stop } = visibleCards;
  useDropColumn(section, scroller, column.id, () => {
    const last = items.findLast(({ index }) => index !== stop)?.index ?? items.at(-1)?.index ?? -1;
    return cards[last + 1]?.id ?? null;
  });
  const isOver = dropPosition?.columnId === column.id;

  return (
    <section ref={section} className="column" aria-labelledby={headingId} data-over={isOver || undefined}>
      <ColumnHeader {...props} headingId={headingId} />
      {props.isQuickAddOpen && onAdd !== undefined && (
        <QuickAdd
          columnId={column.id}
          columnName={column.name}
          onAdd={(title) => onAdd(title, column.id)}
          onClose={() => onQuickAddChange?.(null)}
        />
      )}
      <div
        ref={scroller}
        className="column-scroll"
        onScroll={(event) => scrollOffsetByColumn.set(column.id, event.currentTarget.scrollTop)}
      >
        <ColumnCards {...props} visibleCards={visibleCards} isDropTarget={isOver} />
        {cards.length === 0 && !isOver && (
          <p className="column-empty">{isFiltered ? t.board.emptyFiltered : t.board.empty}</p>
        )}
        {!areAllCardsLoaded && <p className="column-empty">{t.board.more}</p>}
      </div>
    </section>
  );
});
