import { expect, it } from '@jest/globals';
import { type StoryCard } from '@muster/contract';
import { groupAssigned } from './my-work.ts';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const card = (key: string, status: StoryCard['status'], due: number | null, priority = 'none'): StoryCard =>
  ({ id: key, key, status, priority, dueDate: due === null ? null : inDays(due) }) as StoryCard;

it('puts what is late before what is due, under way and next, by date and priority', () => {
  const groups = groupAssigned([
    card('WEB-1', 'ready', null),
    card('WEB-2', 'in_progress', null),
    card('WEB-3', 'in_review', -3),
    card('WEB-4', 'backlog', -9),
    card('WEB-5', 'backlog', 3),
    card('WEB-6', 'backlog', null, 'urgent'),
    card('WEB-7', 'backlog', 60),
  ]);
  expect(groups.map(([group, cards]) => `${group}: ${cards.map(({ key }) => key).join(' ')}`)).toEqual([
    ...['overdue: WEB-4 WEB-3', 'dueSoon: WEB-5', 'active: WEB-2', 'next: WEB-7 WEB-6 WEB-1'],
  ]);
});
