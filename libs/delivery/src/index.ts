/** Delivery: who works on what, under which lease. */
import { deliveryExecutions } from './operations/deliveryExecutions/handlers.ts';

export { executionReactions } from './reactions.ts';
export { type Deed, transitions } from './rules/execution-states.ts';

export const deliveryHandlers = { deliveryExecutions };
