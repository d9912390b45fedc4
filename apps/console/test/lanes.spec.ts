import { expect, it } from '@jest/globals';
import { type BoardColumn, type StoryCard } from '@muster/contract';
import {
  type Lane,
  applyPendingMoves,
  moveParameters,
  type TargetPosition,
  groupCardsIntoLanes,
} from '../web/data/lanes.ts';
import {
  getFollowingCardId,
  nextMovePosition,
  findCardPosition,
  nextCardPosition,
} from '../web/board/walk.ts';
import { parseBoardSearch, matchesFilter } from '../web/board/filter.ts';

const column = (id: string): BoardColumn => ({ id, name: id, status: 'ready' }) as BoardColumn;
const card = (id: string, columnId: string, rank: string, more: Partial<StoryCard> = {}): StoryCard =>
  ({
    ...{
      id,
      key: `WEB-${id}`,
      title: `Story ${id}`,
      columnId,
      rank,
      labels: [],
      priority: 'none',
      blocked: null,
    },
    ...{ assignees: { member: null, agent: null }, counts: { openBlockers: 0 }, execution: null, ...more },
  }) as unknown as StoryCard;
const columns = [column('a'), column('b'), column('c')];
const cards = new Map(
  [card('1', 'a', 'B'), card('2', 'a', 'a'), card('3', 'a', 'C'), card('4', 'b', 'A')].map((one) => [
    one.id,
    one,
  ]),
);
const lanesOf = (
  all: readonly BoardColumn[],
  those: ReadonlyMap<string, StoryCard>,
  moves: ReadonlyMap<string, TargetPosition>,
  before: readonly Lane[] = [],
): readonly Lane[] => applyPendingMoves(groupCardsIntoLanes(all, those, before), those, moves, before);
const shown = (moves = new Map<string, { columnId: string; beforeId: string | null }>()) =>
  lanesOf(columns, cards, moves).map((lane) => lane.cards.map(({ id }) => id).join(''));

it('orders a column byte by byte, as the server does', () => {
  expect(shown()).toEqual(['132', '4', '']);
});

it('shows a card that is being moved where it will be', () => {
  expect(shown(new Map([['2', { columnId: 'b', beforeId: '4' }]]))).toEqual(['13', '24', '']);
  expect(shown(new Map([['1', { columnId: 'a', beforeId: null }]]))).toEqual(['321', '4', '']);
  // The card before which card 1 should be placed is no longer on the board, so card 1 goes to the end.
  expect(shown(new Map([['1', { columnId: 'b', beforeId: 'gone' }]]))).toEqual(['32', '41', '']);
});

it('keeps the lists of columns in which nothing changed', () => {
  const before = lanesOf(columns, cards, new Map());
  const after = lanesOf(columns, cards, new Map([['4', { columnId: 'c', beforeId: null }]]), before);
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
});

it('names the neighbour by which a move is asked for', () => {
  const lane = [...cards.values()].filter(({ columnId }) => columnId === 'a');
  expect(moveParameters(lane, { columnId: 'a', beforeId: '2' }, '1')).toEqual({ beforeStoryId: '2' });
  expect(moveParameters(lane, { columnId: 'a', beforeId: null }, '3')).toEqual({ afterStoryId: '2' });
  expect(moveParameters([], { columnId: 'c', beforeId: null }, '3')).toEqual({});
});

it('walks to the card beside, over columns that are empty, and nowhere past the ends', () => {
  const lanes = lanesOf([column('a'), column('c'), column('b')], cards, new Map());
  const at = (id: string) => findCardPosition(lanes, id) ?? { lane: -1, row: -1 };
  const idAt = (spot: { lane: number; row: number } | undefined) =>
    spot === undefined ? undefined : lanes[spot.lane]?.cards[spot.row]?.id;
  expect(idAt(nextCardPosition(lanes, at('2'), 'right'))).toBe('4');
  expect(idAt(nextCardPosition(lanes, at('1'), 'down'))).toBe('3');
  expect(idAt(nextCardPosition(lanes, at('1'), 'last'))).toBe('2');
  expect([nextCardPosition(lanes, at('1'), 'up'), nextCardPosition(lanes, at('4'), 'right')]).toEqual([
    undefined,
    undefined,
  ]);
});

it('moves a card through empty columns too, and says before which card it comes', () => {
  const lanes = lanesOf(columns, cards, new Map());
  expect(nextMovePosition(lanes, { lane: 1, row: 0 }, 'right')).toEqual({ lane: 2, row: 0 });
  expect(nextMovePosition(lanes, { lane: 2, row: 0 }, 'right')).toEqual({ lane: 2, row: 0 });
  expect(nextMovePosition(lanes, { lane: 0, row: 2 }, 'down')).toEqual({ lane: 0, row: 2 });
  expect(getFollowingCardId(lanes, { lane: 0, row: 1 }, '1')).toBe('2');
  expect(getFollowingCardId(lanes, { lane: 0, row: 2 }, '1')).toBeNull();
});

it('reads of an address what is a filter, and nothing else', () => {
  expect(
    parseBoardSearch({
      q: 12,
      who: 'm1',
      label: ['bug', 3, {}],
      priority: ['urgent', 'odd'],
      work: 'odd',
      x: 1,
    }),
  ).toEqual({ q: '12', who: ['m1'], label: ['bug', '3'], priority: ['urgent'] });
});

it('widens by filters of one kind and narrows by those of different kinds', () => {
  const one = card('7', 'a', 'x', {
    ...{ labels: ['bug'], priority: 'high' },
    assignees: { member: { id: 'm1', name: 'Ana', handle: 'ana' }, agent: null },
  });
  expect(matchesFilter(one, {})).toBe(true);
  expect(matchesFilter(one, { label: ['docs', 'bug'], priority: ['high'] })).toBe(true);
  expect(matchesFilter(one, { label: ['bug'], priority: ['low'] })).toBe(false);
  expect([matchesFilter(one, { who: ['m1'] }), matchesFilter(one, { who: ['none'] })]).toEqual([true, false]);
  expect([
    matchesFilter(one, { q: 'web-7' }),
    matchesFilter(one, { q: 'STORY' }),
    matchesFilter(one, { q: 'other' }),
  ]).toEqual([...[true, true, false]]);
  expect([
    matchesFilter(one, { work: ['blocked'] }),
    matchesFilter(card('8', 'a', 'x'), { who: ['none'] }),
  ]).toEqual([false, true]);
});
