import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { recordAndApplyObservation } from '../deliveryExecutions/recordForgeObservation.ts';

/**
 * Records an observation for the forge adapter. Only the adapter can record `verified` trust, for what a
 * forge has signed.
 */
export const observeForge = handle(internalOperations.observeForge, (context) =>
  recordAndApplyObservation(context, context.params),
);
