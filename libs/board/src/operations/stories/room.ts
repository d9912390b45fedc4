/** Whether a column has room for stories that come from another, by the policy. */
import { type Policy, type Warning } from '@muster/registry';
import { type ApiError } from '@muster/runtime';
import { type Lane } from '../../data/ranks.ts';
import { wipVerdict } from '../../rules/workflow.ts';

/** What there is to say of it; throws where the policy lets no more in. */
export function roomFor(
  refuse: (reason: 'wip_limit', details: Record<string, unknown>) => ApiError,
  lane: Pick<Lane, 'id' | 'wip_limit' | 'story_count'>,
  coming: number,
  { wipLimits }: Policy,
): Warning[] {
  const storyCount = lane.story_count + coming;
  const verdict = wipVerdict({ wipLimit: lane.wip_limit, storyCount: storyCount - 1 }, wipLimits);
  if (verdict === 'refuse') throw refuse('wip_limit', { columnId: lane.id, limit: lane.wip_limit });
  if (verdict === 'fine') return [];
  const message = `The column has ${storyCount} stories now, and its limit is ${lane.wip_limit ?? 0}.`;
  return [{ code: 'wip_limit', message, columnId: lane.id }];
}
