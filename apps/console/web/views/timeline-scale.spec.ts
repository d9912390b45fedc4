import { expect, it } from '@jest/globals';
import { type StoryCard } from '@muster/contract';
import { barOf, createScale, spanOf } from './timeline-scale.ts';

const day = 86_400_000;
const now = Date.parse('2026-06-15T12:00');
const idAt = (time: number): string => {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
const card = (created: string, dueDate: string | null, status: StoryCard['status'] = 'ready'): StoryCard => ({
  ...{ id: idAt(Date.parse(created)), key: 'WEB-1', title: 'One', rank: 'a', columnId: 'c', status },
  ...{ priority: 'none', labels: [], estimate: null, epicId: null, blocked: null, version: 1 },
  ...{ parentId: null, dueDate, children: null, execution: null, agentResponse: null },
  ...{ updatedAt: '2026-06-10T00:00', assignees: { member: null, agent: null } },
  counts: { openThreads: 0, openBlockers: 0, reviewers: 0 },
});

it('draws a story from its creation to the end of the day on which it is due', () => {
  const span = spanOf(card('2026-06-01T00:00', '2026-06-20'), now);
  expect([span.start, span.end]).toEqual([Date.parse('2026-06-01T00:00'), Date.parse('2026-06-21T00:00')]);
  expect(spanOf(card('2026-06-01T00:00', null), now).end).toBe(now);
  expect(spanOf(card('2026-06-01T00:00', null, 'done'), now).end).toBe(Date.parse('2026-06-10T00:00'));
  const late = spanOf(card('2026-06-10T00:00', '2026-06-01'), now);
  expect(late.end - late.start).toBe(day);
});

it('covers all stories and some time around today, within limits', () => {
  const short = createScale([], now);
  expect(short.toX(now + day) - short.toX(now)).toBe(16);
  expect(short.todayX).toBe(short.toX(now));
  expect(short.ticks.some(({ isMonth }) => isMonth)).toBe(true);
  const long = createScale([card('2020-01-01T00:00', '2035-01-01')], now);
  expect(long.toX(now + day) - long.toX(now)).toBe(4);
  expect(long.width).toBeLessThanOrEqual((180 + 365 + 2) * 4);
  expect(long.ticks.every(({ isMonth }) => isMonth)).toBe(true);
  const bar = barOf(card('2020-01-01T00:00', '2035-01-01'), long, now);
  expect([bar.x, bar.x + bar.width <= long.width]).toEqual([0, true]);
});

it('leaves the end of a story open that has no due date, unless it is finished', () => {
  const scale = createScale([], now);
  const isOpenEnded = (status: StoryCard['status'], due: string | null): boolean =>
    barOf(card('2026-06-14T00:00', due, status), scale, now).isOpenEnded;
  expect([isOpenEnded('ready', null), isOpenEnded('done', null), isOpenEnded('ready', '2026-06-20')]).toEqual(
    [true, false, false],
  );
});
