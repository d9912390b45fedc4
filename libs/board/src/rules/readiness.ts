/** Checks in advance if work on a story can begin, by the rules of its move to `in_progress`. */
import { movesToStart, type Obstacle, type Policy, type Readiness, type StoryStatus } from '@muster/contract';
import { isFinished, noGateFacts, type UnmetGate, findUnmetGates, compareWithWipLimit } from './workflow.ts';

export interface ReadinessFacts {
  readonly archived: boolean;
  readonly status: StoryStatus;
  readonly isBlocked: boolean;
  readonly hasOpenChildren: boolean;
  readonly hasSpec: boolean;
  readonly blockers: Readiness['openBlockers'];
  /** The column for stories in progress; null if the board has no such column. */
  readonly column: { readonly wipLimit: number | null; readonly storyCount: number } | null;
  /** True if another holder has a live lease. */
  readonly leaseHeld: boolean;
  readonly stopRequested: boolean;
}

const obstacleByGate: Record<UnmetGate['gate'], Obstacle> = {
  requireSpecToStart: 'spec_missing',
  requiredApprovals: 'policy',
  changesRequested: 'policy',
  requireMergeProof: 'policy',
  requireEvidence: 'policy',
  agentsMayComplete: 'policy',
};

function* listObstacles(
  facts: ReadinessFacts,
  openBlockers: number,
  policy: Policy,
  movesOnBoard: boolean,
): Generator<Obstacle> {
  if (facts.archived) yield 'archived';
  if (isFinished(facts.status)) yield 'finished';
  if (openBlockers > 0) yield 'blocked_by';
  if (facts.isBlocked) yield 'blocked';
  if (facts.hasOpenChildren) yield 'has_children';
  if (movesOnBoard) {
    const gates = { ...noGateFacts, hasSpec: facts.hasSpec };
    for (const { gate } of findUnmetGates('in_progress', policy, gates)) yield obstacleByGate[gate];
    if (facts.column === null) yield 'no_column';
    else if (compareWithWipLimit(facts.column, policy.wipLimits) === 'refuse') yield 'wip_limit';
  }
  if (facts.leaseHeld) yield 'lease_held';
  if (facts.stopRequested) yield 'stop_requested';
}

/**
 * Lists all obstacles in the order of the contract. If work begins without a move on the board (`moves` is
 * false), the gates of that move do not count.
 */
export function computeReadiness(
  facts: ReadinessFacts,
  policy: Policy,
  movesOnBoard = movesToStart(facts.status),
): Readiness {
  const openBlockers = facts.blockers.filter(({ status }) => !isFinished(status));
  const reasons = [...new Set(listObstacles(facts, openBlockers.length, policy, movesOnBoard))];
  return { canStart: reasons.length === 0, reasons, openBlockers };
}
