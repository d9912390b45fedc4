import { expect, it } from '@jest/globals';
import { type StoryCard } from '@muster/registry';
import { canStartNow, matchesFilter } from './filter.ts';

const card: StoryCard = {
  ...{
    id: 'one',
    key: 'WEB-12',
    title: 'Let a guest reach Payment',
    rank: 'a',
    columnId: 'c',
    status: 'backlog',
  },
  ...{ priority: 'high', labels: ['bug'], estimate: null, epicId: null, blocked: null, version: 1 },
  ...{ parentId: null, dueDate: null, children: null },
  ...{ updatedAt: '2026-01-01T00:00:00.000Z', assignees: { member: null, agent: null } },
  ...{ execution: null, agentResponse: null },
  counts: { openThreads: 0, openBlockers: 0, reviewers: 0 },
};

it('finds a story by all of the words, in any order, in its title and its key', () => {
  const found = (q: string): boolean => matchesFilter(card, { q });
  expect(['payment guest', 'web-12  reach', ' PAY '].map(found)).toEqual([true, true, true]);
  expect(['guest invoice', 'web-13 reach', 'guestreach'].map(found)).toEqual([false, false, false]);
});

it('widens by filters of one kind, and narrows by those of different kinds', () => {
  expect(matchesFilter(card, { label: ['ops', 'bug'], priority: ['high'] })).toBe(true);
  expect(matchesFilter(card, { label: ['bug'], priority: ['low'] })).toBe(false);
  expect(matchesFilter(card, { who: ['none'], work: ['live', 'blocked'] })).toBe(false);
});

it('knows which stories can start: those that nothing blocks, without open children, that nobody works on', () => {
  const execution = {
    ...{
      id: 'e',
      state: 'available' as const,
      holder: null,
      expiresAt: null,
      progress: 0,
      needsRework: false,
    },
  };
  const startable: Partial<StoryCard>[] = [
    {},
    { status: 'ready' },
    { children: { total: 2, done: 2 } },
    { execution },
  ];
  const others: Partial<StoryCard>[] = [
    { status: 'in_progress' },
    { status: 'done' },
    { blocked: { kind: 'external', note: '', unblockerMemberId: null } },
    { counts: { ...card.counts, openBlockers: 1 } },
    { children: { total: 2, done: 1 } },
    { execution: { ...execution, state: 'offered' } },
    { execution: { ...execution, state: 'leased' } },
  ];
  const canStart = (change: Partial<StoryCard>): boolean => canStartNow({ ...card, ...change });
  expect([startable.filter(canStart).length, others.filter(canStart)]).toEqual([startable.length, []]);
  expect(matchesFilter({ ...card, status: 'ready' }, { work: ['start'] })).toBe(true);
});
