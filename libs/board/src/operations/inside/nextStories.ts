import { inside, type PassedOverReason } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listNextStories, lockColumnsOfWork, type NextRow } from '../../data/next-stories.ts';
import { toBoardFacts } from '../../data/readiness-facts.ts';
import { readinessOf } from '../../rules/readiness.ts';

export const nextStories = handle(inside.nextStories, async (context) => {
  const { params, targetId, caller, db, policy: askPolicy } = context;
  const [, rows, policy] = await Promise.all([
    db.all(lockColumnsOfWork(targetId)),
    listNextStories(db, caller, targetId, params),
    askPolicy(),
  ]);
  // Who holds it is for delivery to say.
  const unheld = { leaseHeld: false, stopRequested: false };
  const reasonsOf = (row: NextRow): PassedOverReason[] => [
    ...readinessOf({ ...toBoardFacts(row), ...unheld }, policy, params.moves).reasons,
    ...(row.is_assigned && !row.is_mine ? (['assigned_to_another'] as const) : []),
  ];
  return {
    items: rows.slice(0, params.limit).map((row) => ({
      storyId: row.id,
      key: row.key,
      status: row.status,
      reasons: reasonsOf(row),
    })),
    more: rows.length > params.limit,
  };
});
