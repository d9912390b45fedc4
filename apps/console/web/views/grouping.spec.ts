import { expect, it } from '@jest/globals';
import { projectKeyOf } from '../data/story-key.ts';
import { type StoryCard } from '@muster/contract';
import { createdAtOf, flattenGroups, type GroupContext, groupCards, sortCards } from './grouping.ts';

const card = (key: string, change: Partial<StoryCard> = {}): StoryCard => ({
  ...{ id: key, key, title: key, rank: key, columnId: 'c', status: 'backlog', version: 1 },
  ...{ priority: 'none', labels: [], estimate: null, epicId: null, blocked: null },
  ...{ parentId: null, dueDate: null, children: null, execution: null, agentResponse: null },
  ...{ updatedAt: '2026-01-01T00:00:00.000Z', assignees: { member: null, agent: null } },
  counts: { openThreads: 0, openBlockers: 0, reviewers: 0 },
  ...change,
});
const context: GroupContext = {
  ...{ statusName: (status) => status, priorityName: (priority) => priority },
  epics: new Map([
    ['e2', 'Alpha'],
    ['e1', 'Beta'],
  ]),
  ...{ parents: new Map([['p', 'WEB-1 One']]), projects: new Map([['WEB', 'Web shop']]) },
  waves: new Map([
    ['WEB-2', 1],
    ['WEB-1', 10],
  ]),
  waveName: (wave) => `Wave ${wave}`,
  noValue: () => 'none',
};
const grouped = (cards: readonly StoryCard[], by: Parameters<typeof groupCards>[1]): string[] =>
  groupCards(cards, by, context).map(
    ({ name, cards: list }) => `${name}: ${list.map(({ key }) => key).join(' ')}`,
  );
const sorted = (cards: readonly StoryCard[], by: Parameters<typeof sortCards>[1]): string =>
  sortCards(cards, by, ['left', 'right'])
    .map(({ key }) => key)
    .join(' ');

it('groups by every field, in the order of the field, with the stories that have no value last', () => {
  const ben = { member: { id: 'b', name: 'Ben', handle: 'ben' }, agent: null };
  const cards = [
    card('WEB-1', { status: 'done', epicId: 'e1', priority: 'low' }),
    card('WEB-2', { status: 'ready', epicId: 'e2', priority: 'urgent', assignees: ben, labels: ['b', 'a'] }),
    card('APP-3', { parentId: 'p', labels: ['a'] }),
  ];
  expect(grouped(cards, 'status')).toEqual(['backlog: APP-3', 'ready: WEB-2', 'done: WEB-1']);
  expect(grouped(cards, 'priority')).toEqual(['urgent: WEB-2', 'low: WEB-1', 'none: APP-3']);
  expect(grouped(cards, 'epic')).toEqual(['Alpha: WEB-2', 'Beta: WEB-1', 'none: APP-3']);
  expect(grouped(cards, 'assignee')).toEqual(['Ben: WEB-2', 'none: WEB-1 APP-3']);
  expect(grouped(cards, 'agent')).toEqual(['none: WEB-1 WEB-2 APP-3']);
  expect(grouped(cards, 'label')).toEqual(['a: WEB-2 APP-3', 'b: WEB-2', 'none: WEB-1']);
  expect(grouped(cards, 'parent')).toEqual(['WEB-1 One: APP-3', 'none: WEB-1 WEB-2']);
  expect(grouped(cards, 'project')).toEqual(['APP: APP-3', 'Web shop: WEB-1 WEB-2']);
  expect(grouped(cards, 'wave')).toEqual(['Wave 1: WEB-2', 'Wave 10: WEB-1', 'none: APP-3']);
  expect(grouped(cards, 'none')).toEqual([': WEB-1 WEB-2 APP-3']);
});

it('sorts by board, priority and dates, and by key where those are equal', () => {
  const cards = [
    card('WEB-10', { columnId: 'right', rank: 'a', dueDate: '2026-05-01', priority: 'high' }),
    card('WEB-9', { columnId: 'left', rank: 'b', dueDate: '2026-04-01' }),
    card('WEB-2', { columnId: 'left', rank: 'a', updatedAt: '2026-02-01T00:00:00.000Z' }),
  ];
  expect(sorted(cards, 'board')).toBe('WEB-2 WEB-9 WEB-10');
  expect(sorted(cards, 'dueDate')).toBe('WEB-9 WEB-10 WEB-2');
  expect(sorted(cards, 'priority')).toBe('WEB-10 WEB-9 WEB-2');
  expect(sorted(cards, 'updated')).toBe('WEB-2 WEB-9 WEB-10');
});

it('reads the project and the time of creation from a story', () => {
  expect(projectKeyOf('WEB-12')).toBe('WEB');
  expect(new Date(createdAtOf({ id: '01936d5c-0000-7000-8000-0000000000e0' })).toISOString()).toBe(
    '2024-11-27T11:22:46.144Z',
  );
});

it('lists headings before their stories, and no stories of a folded group', () => {
  const groups = groupCards([card('WEB-1'), card('WEB-2', { status: 'ready' })], 'status', context);
  const keys = (...folded: string[]): string[] =>
    flattenGroups(groups, 'status', new Set(folded)).map(({ key }) => key);
  expect(keys()).toEqual(['group backlog', 'backlog WEB-1', 'group ready', 'ready WEB-2']);
  expect(keys('backlog')).toEqual(['group backlog', 'group ready', 'ready WEB-2']);
});
