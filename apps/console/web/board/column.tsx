import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import { type Epic, type StoryCard } from '@muster/registry';
import { type Lane, type CardPlace } from '../data/lanes.ts';
import { Icon, StatusIcon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { t } from '../messages/index.ts';
import { Card } from './card.tsx';
import { useDraggable, useDropColumn } from './drag.ts';
import { QuickAdd } from './quick-add.tsx';

const estimatedCardHeight = 92;
const gap = 8;
/** The scroll offset of each column, restored when the board is opened again. */
const offsets = new Map<string, number>();

export interface ColumnProps {
  readonly lane: Lane;
  /** The number of cards, including those that the filters hide. */
  readonly count: number;
  readonly isWhole: boolean;
  readonly isFiltered: boolean;
  readonly canWrite: boolean;
  readonly activeId: string | null;
  /** The card that was last reached by a key. */
  readonly reachedId: string | null;
  readonly movingId: string | null;
  readonly selected: ReadonlySet<string>;
  readonly fresh: ReadonlySet<string>;
  /** Epics by id; undefined while they load. */
  readonly epics: ReadonlyMap<string, Epic> | undefined;
  /** The position where a dragged card would be dropped. */
  readonly over: CardPlace | null;
  readonly menuOf: (card: StoryCard) => readonly MenuItem[];
  readonly isAdding: boolean;
  readonly onAdding: (columnId: string | null) => void;
  readonly onAdd: (title: string, columnId: string) => Promise<void>;
}

function ColumnCard({
  card,
  isLocked,
  menuOf,
  children,
}: {
  readonly card: StoryCard;
  readonly isLocked: boolean;
  readonly menuOf: ColumnProps['menuOf'];
  readonly children: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  useDraggable(place, card.id, isLocked);
  return (
    <div ref={place} className="card-place">
      {children}
      <Menu
        label={t.board.cardMenu(card.key)}
        items={() => menuOf(card)}
        className="icon-button card-menu"
        tabIndex={-1}
      >
        <Icon name="more" />
      </Menu>
    </div>
  );
}

function ColumnHead({ lane, count, isFiltered, canWrite, onAdding }: ColumnProps) {
  const { column, cards } = lane;
  const isOver = column.wipLimit !== null && count > column.wipLimit;
  return (
    <header className="column-head">
      <StatusIcon status={column.status} />
      <h2 id={`column-${column.id}`} className="cut">
        {column.name}
      </h2>
      <span className="column-count tabular" data-over={isOver || undefined}>
        {isFiltered
          ? t.filter.found(cards.length, count)
          : column.wipLimit === null
            ? count.toLocaleString()
            : t.board.limit(count, column.wipLimit)}
        {isOver && <span className="sr-only">, {t.board.overLimit}</span>}
      </span>
      {canWrite && (
        <button
          type="button"
          className="icon-button column-add"
          aria-label={t.board.add(column.name)}
          title={t.board.add(column.name)}
          onClick={() => onAdding(column.id)}
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
function useCardsInView({ lane, activeId, reachedId }: ColumnProps, scroller: RefObject<HTMLElement | null>) {
  const { column, cards } = lane;
  const active = cards.findIndex(({ id }) => id === activeId);
  const stop = Math.max(0, active);
  const virtualizer = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedCardHeight,
    // Keep the identity of this function stable. A new function would make the virtualizer recompute the
    // positions of all cards.
    getItemKey: useCallback((index: number) => cards[index]?.id ?? index, [cards]),
    overscan: 4,
    gap,
    initialOffset: () => offsets.get(column.id) ?? 0,
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
const dropLineAt = (virtualizer: ReturnType<typeof useCardsInView>['virtualizer'], index: number): number =>
  (index < 0 ? virtualizer.getTotalSize() + gap : (virtualizer.measurementsCache[index]?.start ?? 0)) -
  gap / 2;

/** A column that renders again only if one of its own props changed; all other props are stable. */
export const Column = memo(function Column(props: ColumnProps) {
  const { lane, isWhole, isFiltered, canWrite, movingId, selected, fresh, epics, over, menuOf } = props;
  const { column, cards } = lane;
  const section = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { virtualizer, items, stop } = useCardsInView(props, scroller);
  useDropColumn(section, scroller, column.id, () => {
    const last = items.findLast(({ index }) => index !== stop)?.index ?? items.at(-1)?.index ?? -1;
    return cards[last + 1]?.id ?? null;
  });
  const isOver = over?.columnId === column.id;
  const lineAt = dropLineAt(
    virtualizer,
    cards.findIndex(({ id }) => id === over?.beforeId),
  );

  return (
    <section
      ref={section}
      className="column"
      aria-labelledby={`column-${column.id}`}
      data-column={column.id}
      data-over={isOver || undefined}
    >
      <ColumnHead {...props} />
      {props.isAdding && (
        <QuickAdd
          columnId={column.id}
          column={column.name}
          onAdd={(title) => props.onAdd(title, column.id)}
          onClose={() => props.onAdding(null)}
        />
      )}
      <div
        ref={scroller}
        className="column-scroll"
        onScroll={(event) => offsets.set(column.id, event.currentTarget.scrollTop)}
      >
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
                aria-setsize={isWhole ? cards.length : -1}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <ColumnCard card={card} isLocked={!canWrite} menuOf={menuOf}>
                  <Card
                    card={card}
                    epic={card.epicId === null ? undefined : epics?.get(card.epicId)}
                    isActive={index === stop}
                    isMoving={card.id === movingId}
                    isFresh={fresh.has(card.id)}
                    isSelected={selected.has(card.id)}
                  />
                </ColumnCard>
              </li>
            );
          })}
          {isOver && (
            <li className="drop-line" role="presentation" style={{ insetBlockStart: `${lineAt}px` }} />
          )}
        </ul>
        {cards.length === 0 && !isOver && (
          <p className="column-empty">{isFiltered ? t.board.emptyFiltered : t.board.empty}</p>
        )}
        {!isWhole && <p className="column-empty">{t.board.more}</p>}
      </div>
    </section>
  );
});
