/** Compares the stories that a search for the next one could take with the work of others. */
import { type ConflictingWork } from '@muster/contract';
import { readResourcesOfOthers, serializeConflictChecks } from '../../data/conflicting-work.ts';
import { StepBudget } from '../../rules/glob-intersection.ts';
import { maxDispatchSteps } from '../../rules/lock-limits.ts';
import {
  findStoryConflict,
  resourcesOfOthers,
  shortestPrefixes,
  type StoryConflict,
  touchedResources,
  unknownConflict,
} from '../../rules/story-conflicts.ts';
import { type LeaseRequest, toHolder } from './granting.ts';
import { type Candidate, type SearchContext } from './search-context.ts';

interface Comparison {
  readonly isFinal: boolean;
  /** The budget of the whole search. Once it is exhausted, every candidate that touches something conflicts. */
  readonly stepBudget: StepBudget;
}

/**
 * Finds the candidates that touch what others work on. Reads nothing unless a candidate touches something and
 * the caller avoids conflicts.
 *
 * With `isFinal` the result holds until the transaction ends: searches that compare stories of the project
 * run one after the other, so none of them can take overlapping work at the same time.
 */
export async function findConflicts(
  context: SearchContext,
  request: LeaseRequest,
  candidates: readonly Candidate[],
  { isFinal, stepBudget }: Comparison,
): Promise<ReadonlyMap<Candidate, StoryConflict<ConflictingWork>>> {
  const { db, caller, params, targetId: projectId } = context;
  const avoidsConflicts = params.avoidConflicts ?? caller.agentId !== null;
  const touching = avoidsConflicts ? candidates.filter(({ touches }) => touches.length > 0) : [];
  if (touching.length === 0) return new Map();
  if (stepBudget.isExhausted) return new Map(touching.map((candidate) => [candidate, unknownConflict]));
  const compared = touching.map((candidate) => ({ candidate, touches: touchedResources(candidate.touches) }));
  const prefixes = compared.flatMap(({ touches }) => touches.map(({ literalPrefix }) => literalPrefix));
  const [, covered] = await Promise.all([
    isFinal ? serializeConflictChecks(db, projectId) : undefined,
    readResourcesOfOthers(db, projectId, toHolder(context, request), shortestPrefixes(prefixes)),
  ]);
  const others = resourcesOfOthers(covered);
  const conflicts = new Map<Candidate, StoryConflict<ConflictingWork>>();
  for (const { candidate, touches } of compared) {
    const story = { storyId: candidate.storyId, touches };
    const found = findStoryConflict(story, others, new StepBudget(maxDispatchSteps, stepBudget));
    if (found === undefined) continue;
    conflicts.set(candidate, { witness: found.witness, with: found.with && toShownWork(found.with) });
  }
  return conflicts;
}

const toShownWork = ({ source, storyId, key, lockId, holder }: ConflictingWork): ConflictingWork => ({
  ...{ source, storyId, key, lockId, holder },
});
