import { expect, it } from '@jest/globals';
import { type StoryCard } from '@muster/contract';
import { canStartNow, isPlainBoard, matchesFilter, parseBoardSearch, withoutFilters } from './filter.ts';

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

it('finds stories by person, status, and due date', () => {
  const ana = { id: 'a', name: 'Ana', handle: 'ana' };
  const hers = { ...card, assignees: { member: ana, agent: null } };
  const finds = (who: string): boolean => matchesFilter(hers, { who: [who] }, 'a');
  expect(['me', 'a', 'ana', 'none', 'b'].map(finds)).toEqual([true, true, true, false, false]);
  expect(matchesFilter(card, { status: ['done'] })).toBe(false);
  const inDays = (days: number): string =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const isDue = (days: number, work: 'overdue' | 'dueSoon'): boolean =>
    matchesFilter({ ...card, dueDate: inDays(days) }, { work: [work] });
  expect([isDue(-2, 'overdue'), isDue(2, 'overdue'), isDue(2, 'dueSoon')]).toEqual([true, false, true]);
  expect([isDue(-2, 'dueSoon'), isDue(12, 'dueSoon')]).toEqual([false, false]);
  expect(matchesFilter({ ...card, status: 'done', dueDate: inDays(-2) }, { work: ['overdue'] })).toBe(false);
  expect(matchesFilter({ ...card, dueDate: '2026-01-02' }, { due: '2026-01-02' })).toBe(false);
  expect(matchesFilter({ ...card, dueDate: '2026-01-01' }, { due: '2026-01-02' })).toBe(true);
});

it('reads the layout of an address, and drops what it does not know', () => {
  const search = parseBoardSearch({
    ...{ layout: 'table', group: 'epic', sort: 'nothing', columns: ['status'], status: ['done', 'x'], q: 7 },
  });
  expect(search).toEqual({ layout: 'table', group: 'epic', columns: ['status'], status: ['done'], q: '7' });
  expect(withoutFilters(search)).toEqual({ layout: 'table', group: 'epic', columns: ['status'] });
  const plain = [{}, { layout: 'board', q: 'x' }, { group: 'status' }, { sort: 'board' }] as const;
  const other = [{ layout: 'list' }, { group: 'epic' }, { sort: 'dueDate' }] as const;
  expect([plain.filter(isPlainBoard).length, other.filter(isPlainBoard)]).toEqual([plain.length, []]);
});
