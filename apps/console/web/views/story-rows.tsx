/** A list or table of stories in groups. It renders only the rows in view. */
import { Link } from '@tanstack/react-router';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type MouseEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useMemo,
} from 'react';
import { type StoryCard } from '@muster/contract';
import { canStartNow, type Grouping, type Sorting } from '../board/filter.ts';
import { type ChooserField } from '../components/choosing.ts';
import { Icon, PriorityIcon, StatusIcon } from '../components/icons.tsx';
import { Avatar } from '../components/people.tsx';
import {
  ActiveWorkLabel,
  AssigneeAvatars,
  BlockedMark,
  DueDay,
  EstimateSum,
  LabelChips,
  PriorityMark,
} from '../components/story-facts.tsx';
import { StartMark } from '../components/work.tsx';
import { t } from '../messages/index.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import { type CellContext, EpicName, renderCell } from './cells.tsx';
import { type Density } from './density.ts';
import { type StoryGroup, type StoryItem } from './grouping.ts';
import { type TableColumn } from './table-columns.ts';
import { TimelineHead, TimelineStory } from './timeline.tsx';
import { type TimelineScale } from './timeline-scale.ts';

const rowHeights: Record<Density, number> = { comfortable: 44, compact: 32 };
const groupHeight = 40;

export interface StoryRowsProps {
  readonly items: readonly StoryItem[];
  /** The columns of a table; undefined for a list. */
  readonly columns: readonly TableColumn[] | undefined;
  /** The scale of a timeline; undefined for other layouts. */
  readonly scale: TimelineScale | undefined;
  readonly grouping: Grouping;
  readonly sorting: Sorting;
  readonly density: Density;
  readonly context: CellContext;
  readonly scroller: RefObject<HTMLElement | null>;
  /** The key of the row that Tab reaches. */
  readonly activeKey: string | null;
  /** The key of the row that was last reached by a key; it is scrolled into view. */
  readonly reachedKey: string | null;
  readonly selectedIds: ReadonlySet<string>;
  readonly recentlyChangedIds: ReadonlySet<string>;
  readonly collapsedIds: ReadonlySet<string>;
  readonly canWrite: (card: StoryCard) => boolean;
  readonly onToggleGroup: (id: string) => void;
  /** Selects the story; with `isRange`, all stories from the last selected one on. */
  readonly onToggleSelection: (card: StoryCard, isRange: boolean) => void;
  readonly onChoose: (what: ChooserField, card: StoryCard, opener: HTMLElement) => void;
  readonly onSort: (sorting: Sorting) => void;
}

interface RowProps extends Omit<StoryRowsProps, 'items'> {
  readonly item: Extract<StoryItem, { type: 'story' }>;
  readonly isStop: boolean;
}

const SelectBox = ({ item: { card }, selectedIds, canWrite, onToggleSelection }: RowProps) =>
  canWrite(card) ? (
    <label className="story-select">
      <input
        type="checkbox"
        aria-label={storyViewTexts.select(card.key)}
        checked={selectedIds.has(card.id)}
        tabIndex={-1}
        onChange={() => undefined}
        onClick={(event) => onToggleSelection(card, event.shiftKey)}
      />
    </label>
  ) : (
    <span className="story-select" />
  );

/** A row of a list: a link to the story with its most important facts. */
function ListStory(props: RowProps) {
  const { item, context, isStop, grouping } = props;
  const { card } = item;
  const { key, title, status, priority, labels, epicId, assignees, children, execution } = card;
  return (
    <>
      <SelectBox {...props} />
      <Link
        to="/s/$storyKey"
        params={{ storyKey: key }}
        className="story-link"
        data-card={card.id}
        data-row={item.key}
        tabIndex={isStop ? 0 : -1}
        draggable={false}
      >
        <span className="story-priority">
          <PriorityMark priority={priority} />
        </span>
        <span className="key story-key">{key}</span>
        <StatusIcon status={status} />
        {grouping !== 'status' && <span className="sr-only">{t.status[status]}</span>}
        <span className="cut story-name">{title}</span>
        {canStartNow(card) && <StartMark />}
        <span className="story-facts">
          <BlockedMark card={card} />
          <ActiveWorkLabel execution={execution} />
          {children !== null && (
            <span className="story-day" title={t.board.children(children.done, children.total)}>
              <span className="sr-only">{t.board.children(children.done, children.total)}</span>
              <span aria-hidden="true">
                {children.done}/{children.total}
              </span>
            </span>
          )}
          <span className="story-labels">
            {epicId !== null && grouping !== 'epic' && <EpicName epic={context.epics.get(epicId)} />}
            <LabelChips labels={labels} />
          </span>
        </span>
        <span className="story-due">
          <DueDay card={card} />
        </span>
        <span className="story-people">
          <AssigneeAvatars assignees={assignees} />
        </span>
      </Link>
    </>
  );
}

const chooserOfColumn: Partial<Record<TableColumn, ChooserField>> = {
  ...{ status: 'status', priority: 'priority', assignee: 'assignee', agent: 'assignee' },
};

/** The cells of a row of a table. Some of them open a menu that changes the story. */
function TableStory(props: RowProps) {
  const { item, columns = [], context, isStop, canWrite, onChoose } = props;
  const { card } = item;
  return (
    <>
      <span role="cell">
        <SelectBox {...props} />
      </span>
      <span role="rowheader" className="story-head">
        <Link
          to="/s/$storyKey"
          params={{ storyKey: card.key }}
          className="story-link"
          data-card={card.id}
          data-row={item.key}
          tabIndex={isStop ? 0 : -1}
          draggable={false}
        >
          <span className="key story-key">{card.key}</span>
          <span className="cut story-name">{card.title}</span>
        </Link>
      </span>
      {columns.map((column) => {
        const what = chooserOfColumn[column];
        const content = renderCell(card, column, context);
        return (
          <span key={column} role="cell" className="story-cell">
            {what !== undefined && canWrite(card) ? (
              <button
                type="button"
                className="story-change"
                aria-haspopup="menu"
                tabIndex={-1}
                onClick={({ currentTarget }: MouseEvent<HTMLElement>) => onChoose(what, card, currentTarget)}
              >
                {content ?? (
                  <span className="muted">
                    <span aria-hidden="true">–</span>
                    <span className="sr-only">{t.people.none}</span>
                  </span>
                )}
              </button>
            ) : (
              content
            )}
          </span>
        );
      })}
    </>
  );
}

interface GroupHeadingProps extends Pick<StoryRowsProps, 'collapsedIds' | 'onToggleGroup' | 'grouping'> {
  readonly group: StoryGroup;
}

const GroupHeading = ({ group, collapsedIds, grouping, onToggleGroup }: GroupHeadingProps) => {
  const isOpen = !collapsedIds.has(group.id);
  const [first] = group.cards;
  return (
    <h2 className="story-group">
      <button type="button" aria-expanded={isOpen} onClick={() => onToggleGroup(group.id)}>
        <span className="story-fold" data-open={isOpen || undefined}>
          <Icon name="down" size={14} />
        </span>
        {grouping === 'status' && first !== undefined && <StatusIcon status={first.status} />}
        {grouping === 'priority' && first !== undefined && <PriorityIcon priority={first.priority} />}
        {(grouping === 'assignee' || grouping === 'agent') && group.id !== '' && (
          <Avatar name={group.name} kind={grouping === 'agent' ? 'agent' : 'member'} />
        )}
        <span className="cut">{group.name}</span>
        <span className="story-count tabular">{group.cards.length.toLocaleString()}</span>
        <EstimateSum cards={group.cards} />
      </button>
    </h2>
  );
};

const sortOfColumn: Partial<Record<TableColumn, Sorting>> = {
  ...{ status: 'board', priority: 'priority', dueDate: 'dueDate', updated: 'updated', created: 'created' },
};
/** Direction in which each order sorts its column. */
const ascendingSorts: readonly Sorting[] = ['board', 'dueDate'];

const TableHead = ({
  columns,
  sorting,
  onSort,
}: Required<Pick<StoryRowsProps, 'sorting' | 'onSort'>> & {
  readonly columns: readonly TableColumn[];
}) => (
  <div role="row" aria-rowindex={1} className="story-row story-columns">
    <span role="columnheader">
      <span className="sr-only">{t.select.one}</span>
    </span>
    <span role="columnheader">{storyViewTexts.story}</span>
    {columns.map((column) => {
      const sort = sortOfColumn[column];
      const name = storyViewTexts.column[column];
      const isCurrent = sort !== undefined && sort === sorting;
      return (
        <span
          key={column}
          role="columnheader"
          aria-sort={isCurrent ? (ascendingSorts.includes(sort) ? 'ascending' : 'descending') : undefined}
        >
          {sort === undefined ? (
            name
          ) : (
            <button type="button" title={storyViewTexts.sortBy(name)} onClick={() => onSort(sort)}>
              {name}
              {isCurrent && <Icon name="down" size={12} />}
            </button>
          )}
        </span>
      );
    })}
  </div>
);

/** Selects the items to render: those in view, and the row that Tab reaches. */
function useVisibleItems(props: StoryRowsProps) {
  const { items, scroller, density, activeKey, reachedKey } = props;
  const indexByKey = useMemo(() => new Map(items.map(({ key }, index) => [key, index])), [items]);
  const firstStory = useMemo(() => items.findIndex(({ type }) => type === 'story'), [items]);
  const active = activeKey === null ? undefined : indexByKey.get(activeKey);
  const stop = active ?? firstStory;
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (items[index]?.type === 'group' ? groupHeight : rowHeights[density]),
    getItemKey: useCallback((index: number) => items[index]?.key ?? index, [items]),
    overscan: 8,
    gap: 0,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const shown = defaultRangeExtractor(range);
        if (stop < 0 || shown.includes(stop) || stop >= range.count) return shown;
        return [...shown, stop].toSorted((one, other) => one - other);
      },
      [stop],
    ),
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, density, items]);
  useLayoutEffect(() => {
    if (reachedKey !== null && active !== undefined) virtualizer.scrollToIndex(active);
  }, [reachedKey]);
  return { virtualizer, stop };
}

interface PlacedRowProps extends StoryRowsProps {
  readonly item: StoryItem;
  readonly index: number;
  readonly isStop: boolean;
  readonly style: CSSProperties;
}

function PlacedRow({ item, index, isStop, style, ...props }: PlacedRowProps) {
  const { columns, recentlyChangedIds, selectedIds } = props;
  const isTable = columns !== undefined;
  if (item.type === 'group') {
    const heading = <GroupHeading {...props} group={item.group} />;
    return isTable ? (
      <div role="row" aria-rowindex={index + 2} className="story-place" style={style}>
        <div role="cell" aria-colspan={columns.length + 2}>
          {heading}
        </div>
      </div>
    ) : (
      <li className="story-place" style={style}>
        {heading}
      </li>
    );
  }
  const state = {
    ...{ className: 'story-place story-row', style },
    'data-fresh': recentlyChangedIds.has(item.card.id) || undefined,
    'data-selected': selectedIds.has(item.card.id) || undefined,
  };
  return isTable ? (
    <div role="row" aria-rowindex={index + 2} {...state}>
      <TableStory {...props} item={item} isStop={isStop} />
    </div>
  ) : (
    <li aria-setsize={item.groupSize} aria-posinset={item.position} {...state}>
      {props.scale === undefined ? (
        <ListStory {...props} item={item} isStop={isStop} />
      ) : (
        <>
          <SelectBox {...props} item={item} isStop={isStop} />
          <TimelineStory item={item} isStop={isStop} scale={props.scale} />
        </>
      )}
    </li>
  );
}

export function StoryRows(props: StoryRowsProps) {
  const { items, columns, density, scale } = props;
  const { virtualizer, stop } = useVisibleItems(props);
  const rows = virtualizer.getVirtualItems().map(({ index, key, start, size }) => {
    const item = items[index];
    const style = { transform: `translateY(${start}px)`, blockSize: `${size}px` };
    return item && <PlacedRow key={key} {...props} {...{ item, index, style }} isStop={index === stop} />;
  });
  const height = { blockSize: `${virtualizer.getTotalSize()}px` };
  const frame = { 'aria-label': storyViewTexts.list, 'data-density': density };
  const list = (
    <ul role="list" className="story-list" style={height} {...frame}>
      {rows}
    </ul>
  );
  if (scale !== undefined)
    return (
      <div className="timeline" style={{ '--track': `${scale.width}px` } as CSSProperties}>
        <TimelineHead scale={scale} />
        {list}
      </div>
    );
  if (columns === undefined) return list;
  return (
    <div
      role="table"
      className="story-table"
      aria-rowcount={items.length + 1}
      aria-colcount={columns.length + 2}
      style={{ '--columns': columns.map((column) => `var(--${column})`).join(' ') } as CSSProperties}
      {...frame}
    >
      <div role="rowgroup">
        <TableHead {...props} columns={columns} />
      </div>
      <div role="rowgroup" className="story-body" style={height}>
        {rows}
      </div>
    </div>
  );
}
