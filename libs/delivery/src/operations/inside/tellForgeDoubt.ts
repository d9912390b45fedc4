import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { signalAmbiguousForgeFact } from '../../data/forge-doubts.ts';

export const tellForgeDoubt = handle(internalOperations.tellForgeDoubt, async ({ params, caller, db }) => {
  const { executionIds, fact } = params;
  const data = { ...fact, ambiguous: true, executionIds };
  return { told: await signalAmbiguousForgeFact(db, caller.actor, executionIds, data) };
});
