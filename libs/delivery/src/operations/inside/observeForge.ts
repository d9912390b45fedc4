import { inside } from '@muster/registry';
import { handle } from '@muster/runtime';
import { observe } from '../deliveryExecutions/recordForgeObservation.ts';

/** The adapter's way to record: it alone says verified, of what a forge signed. */
export const observeForge = handle(inside.observeForge, (context) => observe(context, context.params));
