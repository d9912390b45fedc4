/** Delivery: who works on what, under which lease. */
import { agents } from './operations/agents/handlers.ts';
import { deliveryExecutions } from './operations/deliveryExecutions/handlers.ts';
import { workAround } from './operations/inside/workAround.ts';
import { locks } from './operations/locks/handlers.ts';
import { deliveryGroups } from './operations/deliveryGroups/handlers.ts';

export { noteExpiries, type Unit } from './data/expiries.ts';
export { executionReactions } from './reactions.ts';
export { runReactions } from './run-reactions.ts';
export { type Deed, transitions } from './rules/execution-states.ts';
export { groupMoves } from './rules/group-states.ts';
export { eventMakes, isFinal, stalledAfterSeconds, stateAfter } from './rules/run-states.ts';

/** What other domains ask of this one, and nobody outside. */
export const insideHandlers = { workAround };

export const deliveryHandlers = { locks, deliveryExecutions, deliveryGroups, agents };
