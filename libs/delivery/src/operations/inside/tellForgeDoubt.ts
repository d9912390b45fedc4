import { inside } from '@muster/registry';
import { handle } from '@muster/runtime';
import { signalForgeDoubt } from '../../data/forge-doubts.ts';

export const tellForgeDoubt = handle(inside.tellForgeDoubt, async ({ params, caller, db }) => {
  const { executionIds, fact } = params;
  const data = { ...fact, ambiguous: true, executionIds };
  return { told: await signalForgeDoubt(db, caller.actor, executionIds, data) };
});
