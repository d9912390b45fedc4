import { type PassedOverReason, type Policy } from '@muster/contract';
import { type NextStoryRow } from '../../data/next-stories.ts';
import { toBoardFacts } from '../../data/readiness-facts.ts';
import { computeReadiness } from '../../rules/readiness.ts';

/** Lists the board's reasons against beginning a story next. Delivery checks who holds it. */
export const findReasonsAgainstBeginning = (
  row: NextStoryRow,
  policy: Policy,
  movesToInProgress: boolean,
): PassedOverReason[] => [
  ...computeReadiness(
    { ...toBoardFacts(row), leaseHeld: false, stopRequested: false },
    policy,
    movesToInProgress,
  ).reasons,
  ...(row.is_assigned && !row.is_mine ? (['assigned_to_another'] as const) : []),
];
