import { beforeEach, describe, expect, it } from '@jest/globals';
import { type StoryCard } from '@muster/contract';
import { Cards } from './cards.ts';

describe('cards of a board', () => {
  let cards: Cards;
  let changes = 0;
  beforeEach(() => {
    cards = new Cards(() => (changes += 1));
    changes = 0;
  });

  const card = (version: number, reviewers: number, id = 'one'): StoryCard => ({
    ...{ id, key: 'WEB-1', title: 'Alpha', rank: 'a', columnId: 'c', status: 'backlog', priority: 'none' },
    ...{ labels: [], estimate: null, epicId: null, blocked: null, updatedAt: '2026-01-01T00:00:00.000Z' },
    ...{ version, assignees: { member: null, agent: null }, execution: null, agentResponse: null },
    ...{ parentId: null, dueDate: null, children: null },
    counts: { openThreads: 0, openBlockers: 0, reviewers },
  });
  const shown = (id = 'one'): readonly [number, number] | undefined => {
    const found = cards.get(id);
    return found && [found.version, found.counts.reviewers];
  };

  it('keeps the response to the later request, whichever arrives first', () => {
    const [first, second] = [cards.nextRequestId(), cards.nextRequestId()];
    cards.storeResponse([card(1, 1)], second);
    cards.storeResponse([card(1, 0)], first);
    expect(shown()).toEqual([1, 1]);
    expect(changes).toBe(1);
  });

  it('accepts a higher version from any request, and never a lower one', () => {
    const [first, second] = [cards.nextRequestId(), cards.nextRequestId()];
    cards.storeResponse([card(1, 0)], second);
    cards.storeResponse([card(2, 1)], first);
    expect(shown()).toEqual([2, 1]);
    cards.storeResponse([card(1, 0)], cards.nextRequestId());
    expect(shown()).toEqual([2, 1]);
  });

  it('keeps a card removed or present as the response to the later request says', () => {
    const [first, second] = [cards.nextRequestId(), cards.nextRequestId()];
    cards.removeMissing('one', second);
    cards.storeResponse([card(1, 0)], first);
    expect(shown()).toBeUndefined();
    const [third, fourth] = [cards.nextRequestId(), cards.nextRequestId()];
    cards.storeResponse([card(1, 0)], fourth);
    cards.removeMissing('one', third);
    expect(shown()).toEqual([1, 0]);
    cards.removeMissing('one', cards.nextRequestId());
    expect(shown()).toBeUndefined();
  });

  it('keeps a new card that is missing from the response to an earlier request', () => {
    const question = cards.nextRequestId();
    cards.storeWrittenCard(card(1, 0));
    cards.removeMissing('one', question);
    expect(shown()).toEqual([1, 0]);
    cards.removeMissing('one', cards.nextRequestId());
    expect(shown()).toBeUndefined();
  });

  it('completes the response of a write from the response to an earlier request', () => {
    cards.storeResponse([card(1, 0)], cards.nextRequestId());
    const question = cards.nextRequestId();
    cards.storeWrittenCard(card(2, 0));
    cards.storeResponse([card(2, 1)], question);
    expect(shown()).toEqual([2, 1]);
    cards.storeWrittenCard(card(1, 0));
    expect(shown()).toEqual([2, 1]);
  });
});
