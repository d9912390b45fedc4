/** Checks a column's limit for stories that move into it. */
import { type Policy, type Warning } from '@muster/contract';
import { type ApiError } from '@muster/runtime';
import { type LockedColumn } from '../../data/ranks.ts';
import { compareWithWipLimit } from '../../rules/workflow.ts';

/** Returns a warning if the column exceeds its limit. Throws if the policy enforces the limit. */
export function checkWipLimit(
  refuse: (reason: 'wip_limit', details: Record<string, unknown>) => ApiError,
  column: Pick<LockedColumn, 'id' | 'wip_limit' | 'story_count'>,
  incomingStories: number,
  { wipLimits }: Policy,
): Warning[] {
  const storyCount = column.story_count + incomingStories;
  const verdict = compareWithWipLimit({ wipLimit: column.wip_limit, storyCount: storyCount - 1 }, wipLimits);
  if (verdict === 'refuse') throw refuse('wip_limit', { columnId: column.id, limit: column.wip_limit });
  if (verdict === 'fine') return [];
  const message = `The column now has ${storyCount} stories; its limit is ${column.wip_limit ?? 0}.`;
  return [{ code: 'wip_limit', message, columnId: column.id }];
}
