import { type PassedOverReason, type Policy } from '@muster/registry';
import { type NextRow } from '../../data/next-stories.ts';
import { toBoardFacts } from '../../data/readiness-facts.ts';
import { readinessOf } from '../../rules/readiness.ts';

/** Lists the board's reasons against beginning a story next. Delivery checks who holds it. */
export const againstBeginning = (row: NextRow, policy: Policy, moves: boolean): PassedOverReason[] => [
  ...readinessOf({ ...toBoardFacts(row), leaseHeld: false, stopRequested: false }, policy, moves).reasons,
  ...(row.is_assigned && !row.is_mine ? (['assigned_to_another'] as const) : []),
];
