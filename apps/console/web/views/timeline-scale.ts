/** Computes where stories are on a timeline, in pixels. */
import { dayMs } from '../data/time.ts';
import { type StoryCard } from '@muster/contract';
import { createdAtOf } from './grouping.ts';

/** Stories from before and after these limits are cut off at the edge. */
const maxPastDays = 180;
const maxFutureDays = 365;
/** The timeline shows at least this time around today. */
const minPastDays = 14;
const minFutureDays = 28;

export interface TimelineTick {
  readonly x: number;
  readonly time: number;
  readonly isMonth: boolean;
}

export interface TimelineScale {
  readonly width: number;
  readonly todayX: number;
  readonly ticks: readonly TimelineTick[];
  readonly toX: (time: number) => number;
}

export interface TimelineBar {
  readonly x: number;
  readonly width: number;
  /** True if the story has no due date, so that the bar has no end. */
  readonly isOpenEnded: boolean;
}

/** The start of a calendar date in the browser's time zone. */
const startOfDate = (date: string): number => Date.parse(`${date}T00:00`);
const startOfDay = (time: number): number => new Date(time).setHours(0, 0, 0, 0);

const isFinished = ({ status }: StoryCard): boolean => status === 'done' || status === 'canceled';

/** Returns the first and last moment of a story: from its creation to the end of its due date. */
export function spanOf(card: StoryCard, now: number): { readonly start: number; readonly end: number } {
  const start = createdAtOf(card);
  const until = isFinished(card) ? Date.parse(card.updatedAt) : now;
  const end = card.dueDate === null ? until : startOfDate(card.dueDate) + dayMs;
  // A due date before the creation is shown as a bar of one day.
  return start < end ? { start, end } : { start: end - dayMs, end };
}

const pixelsPerDay = (days: number): number => (days <= 70 ? 16 : days <= 200 ? 8 : 4);

/** Returns the first days of weeks, or only of months if weeks would be too narrow for their labels. */
function ticksBetween(from: number, to: number, hasWeeks: boolean): readonly Omit<TimelineTick, 'x'>[] {
  const ticks: Omit<TimelineTick, 'x'>[] = [];
  const day = new Date(from);
  for (; day.getTime() < to; day.setDate(day.getDate() + 1)) {
    const isMonth = day.getDate() === 1;
    if (isMonth || (hasWeeks && day.getDay() === 1)) ticks.push({ time: day.getTime(), isMonth });
  }
  return ticks;
}

export function createScale(cards: readonly StoryCard[], now: number): TimelineScale {
  const today = startOfDay(now);
  let first = today - minPastDays * dayMs;
  let last = today + minFutureDays * dayMs;
  for (const card of cards) {
    const { start, end } = spanOf(card, now);
    first = Math.min(first, start);
    last = Math.max(last, end);
  }
  const from = startOfDay(Math.max(first, today - maxPastDays * dayMs));
  const to = startOfDay(Math.min(last, today + maxFutureDays * dayMs)) + 2 * dayMs;
  const scale = pixelsPerDay((to - from) / dayMs);
  const toX = (time: number): number =>
    Math.round(((Math.min(to, Math.max(from, time)) - from) / dayMs) * scale);
  return {
    ...{ width: toX(to), todayX: toX(now), toX },
    ticks: ticksBetween(from, to, scale > 4).map((tick) => ({ ...tick, x: toX(tick.time) })),
  };
}

const minBarWidth = 8;

export function barOf(card: StoryCard, { toX }: TimelineScale, now: number): TimelineBar {
  const { start, end } = spanOf(card, now);
  const x = toX(start);
  return {
    ...{ x, width: Math.max(minBarWidth, toX(end) - x) },
    isOpenEnded: card.dueDate === null && !isFinished(card),
  };
}
