/** Stories as bars from their creation to their due date. The same rows are a list for screen readers and keys. */
import { Link } from '@tanstack/react-router';
import { type RefObject, useLayoutEffect, useMemo } from 'react';
import { isOverdue } from '../board/filter.ts';
import { StatusIcon } from '../components/icons.tsx';
import { serverNow } from '../data/time.ts';
import { formatDay, formatShortDay, t } from '../messages/index.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import { type ArrangedStories } from './arranged.ts';
import { createdAtOf, type StoryItem } from './grouping.ts';
import { barOf, createScale, type TimelineScale } from './timeline-scale.ts';

const texts = storyViewTexts.timeline;

/** Dates within this distance of today would cover its label. */
const todayLabelPx = 36;

/** Returns the scale of a timeline, and scrolls to today when it opens. */
export function useTimelineScale(
  { groups }: ArrangedStories,
  isTimeline: boolean,
  area: RefObject<HTMLElement | null>,
): TimelineScale | undefined {
  const scale = useMemo(
    () =>
      isTimeline
        ? createScale(
            groups.flatMap(({ cards }) => cards),
            serverNow(),
          )
        : undefined,
    [isTimeline, groups],
  );
  useLayoutEffect(() => {
    const names = area.current?.querySelector('.timeline-name')?.clientWidth ?? 0;
    if (scale === undefined || area.current === null) return;
    // A quarter of the visible time is in the past.
    area.current.scrollLeft = Math.max(0, scale.todayX - (area.current.clientWidth - names) / 4);
  }, [isTimeline]);
  return scale;
}

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' });

/** The dates above the bars. Each row says its dates in words, so screen readers skip these. */
export const TimelineHead = ({ scale }: { readonly scale: TimelineScale }) => (
  <div className="timeline-head" aria-hidden="true">
    <span className="timeline-name" />
    <span className="timeline-track">
      {scale.ticks
        .filter(({ x, isMonth }) => isMonth || Math.abs(x - scale.todayX) > todayLabelPx)
        .map(({ x, time, isMonth }) => (
          <span
            key={time}
            className="timeline-tick"
            data-month={isMonth || undefined}
            style={{ insetInlineStart: `${x}px` }}
          >
            {isMonth ? monthFormat.format(time) : formatShortDay(time)}
          </span>
        ))}
      <span className="timeline-today" style={{ insetInlineStart: `${scale.todayX}px` }}>
        {texts.today}
      </span>
    </span>
  </div>
);

interface TimelineStoryProps {
  readonly item: Extract<StoryItem, { type: 'story' }>;
  readonly isStop: boolean;
  readonly scale: TimelineScale;
}

export function TimelineStory({ item, isStop, scale }: TimelineStoryProps) {
  const { card } = item;
  const { x, width, isOpenEnded } = barOf(card, scale, serverNow());
  const late = isOverdue(card);
  const due =
    card.dueDate === null ? texts.none : (late ? t.board.overdue : t.board.due)(formatDay(card.dueDate));
  const words = `${texts.created(formatShortDay(createdAtOf(card)))}, ${due}`;
  return (
    <Link
      to="/s/$storyKey"
      params={{ storyKey: card.key }}
      className="story-link"
      data-card={card.id}
      data-row={item.key}
      tabIndex={isStop ? 0 : -1}
      draggable={false}
      title={words}
    >
      <span className="timeline-name">
        <StatusIcon status={card.status} />
        <span className="sr-only">{t.status[card.status]}</span>
        <span className="key">{card.key}</span>
        <span className="cut story-name">{card.title}</span>
        <span className="sr-only">{words}</span>
      </span>
      <span className="timeline-track" aria-hidden="true">
        <span className="timeline-now" style={{ insetInlineStart: `${scale.todayX}px` }} />
        <span
          className="timeline-bar"
          data-status={card.status}
          data-late={late || undefined}
          data-open={isOpenEnded || undefined}
          style={{ insetInlineStart: `${x}px`, inlineSize: `${width}px` }}
        />
      </span>
    </Link>
  );
}
