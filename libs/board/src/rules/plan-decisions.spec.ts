import { describe, expect, it } from '@jest/globals';
import { type StoryStatus } from '@muster/contract';
import { decidePlanItem, type PlanCandidate } from './plan-decisions.ts';

const board = { title: 'A', status: 'ready' as StoryStatus };
const candidate = (more: Partial<PlanCandidate>): PlanCandidate => ({
  ...{ planned: board, base: board, current: board, isWorkedOn: false },
  findStatusObstacle: () => undefined,
  ...more,
});
const obstacle = { reason: 'policy', message: 'No.' } as const;
const decide = (more: Partial<PlanCandidate>) => decidePlanItem(candidate(more));

describe('an item of a plan', () => {
  it('creates a story in backlog or ready, whatever status it asks for', () => {
    const start = (status: StoryStatus | undefined, more: Partial<PlanCandidate> = {}) =>
      decide({ base: null, current: null, planned: { title: 'A', status }, ...more });
    expect(start(undefined)).toEqual({ action: 'create', status: 'backlog', kept: [] });
    expect(start('ready')).toEqual({ action: 'create', status: 'ready', kept: [] });
    expect(start('done')).toMatchObject({
      status: 'backlog',
      kept: [{ field: 'status', reason: 'new_story' }],
    });
    expect(start('ready', { findStatusObstacle: () => obstacle })).toEqual({
      action: 'create',
      status: 'backlog',
      kept: [{ field: 'status', ...obstacle }],
    });
  });

  it('updates, keeps or leaves its story, by the merge of its fields', () => {
    expect(decide({})).toMatchObject({ action: 'unchanged', kept: [] });
    expect(decide({ planned: { title: 'B' } })).toMatchObject({
      action: 'update',
      merge: { updated: ['title'] },
    });
    expect(decide({ planned: { title: 'B' }, current: { title: 'C', status: 'ready' } })).toMatchObject({
      action: 'keep',
      kept: [{ field: 'title', reason: 'changed' }],
    });
    expect(decide({ current: null })).toMatchObject({ action: 'keep', kept: [{ reason: 'deleted' }] });
  });

  it('keeps a status that the gates refuse, and still writes the other fields', () => {
    const planned = { title: 'B', status: 'done' };
    expect(decide({ planned, findStatusObstacle: () => obstacle })).toMatchObject({
      action: 'update',
      merge: { updated: ['title'], base: { title: 'B', status: 'ready' } },
      kept: [{ field: 'status', reason: 'policy' }],
    });
    expect(decide({ planned: { status: 'done' }, findStatusObstacle: () => obstacle })).toMatchObject({
      action: 'keep',
    });
  });
});

describe('a ref that is gone', () => {
  const remove = (more: Partial<PlanCandidate>) => decide({ planned: null, ...more });
  it('cancels its story, unless someone works on it or it is finished', () => {
    expect(remove({})).toEqual({ action: 'remove', cancels: true });
    expect(remove({ isWorkedOn: true })).toMatchObject({ action: 'keep', kept: [{ reason: 'worked_on' }] });
    for (const status of ['in_progress', 'in_review'] as const)
      expect(remove({ current: { ...board, status } })).toMatchObject({ action: 'keep' });
    for (const status of ['done', 'canceled'] as const)
      expect(remove({ current: { ...board, status } })).toEqual({ action: 'remove', cancels: false });
    expect(remove({ current: null })).toEqual({ action: 'remove', cancels: false });
  });
});
