import { internalOperations, movesToStart } from '@muster/contract';
import { handle } from '@muster/runtime';
import { listNextStories, toNextStoryCursor } from '../../data/next-stories.ts';
import { findReasonsAgainstBeginning } from '../stories/against-beginning.ts';

export const nextStories = handle(internalOperations.nextStories, async (context) => {
  const { params, targetId, caller, db, policy: askPolicy } = context;
  const [rows, policy] = await Promise.all([listNextStories(db, caller, targetId, params), askPolicy()]);
  const items = rows.slice(0, params.limit);
  const last = items.at(-1);
  return {
    items: items.map((row) => ({
      storyId: row.id,
      key: row.key,
      status: row.status,
      touches: row.touches,
      reasons: findReasonsAgainstBeginning(row, policy, params.moves && movesToStart(row.status)),
    })),
    next: rows.length > params.limit && last !== undefined ? toNextStoryCursor(last) : null,
  };
});
