/** The stories that are assigned to the viewer, by what to do first. */
import { queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type StoryCard } from '@muster/contract';
import { isDueSoon, isOverdue } from '../board/filter.ts';
import { sortCards } from '../views/grouping.ts';

const maxAssigned = 100;
const openStatuses = ['backlog', 'ready', 'in_progress', 'in_review'] as const;

export const assignedQuery = (client: Client) =>
  queryOptions({
    queryKey: ['assigned'],
    queryFn: () => client.stories.search({ assigneeId: 'me', status: [...openStatuses], limit: maxAssigned }),
  });

export type AssignedGroup = 'overdue' | 'dueSoon' | 'active' | 'next';

const groupOf = (card: StoryCard): AssignedGroup => {
  if (isOverdue(card)) return 'overdue';
  if (isDueSoon(card)) return 'dueSoon';
  return card.status === 'in_progress' || card.status === 'in_review' ? 'active' : 'next';
};

/** Groups the stories; within a group, the earliest due date and the highest priority come first. */
export function groupAssigned(cards: readonly StoryCard[]): [AssignedGroup, readonly StoryCard[]][] {
  const sorted = sortCards(cards, 'dueDate', []);
  return (['overdue', 'dueSoon', 'active', 'next'] as const)
    .map((group): [AssignedGroup, StoryCard[]] => [group, sorted.filter((card) => groupOf(card) === group)])
    .filter(([, list]) => list.length > 0);
}
