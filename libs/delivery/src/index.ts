/** The delivery domain: executions, their leases, locks, delivery groups, and agents at work. */
import { agents } from './operations/agents/handlers.ts';
import { deliveryExecutions } from './operations/deliveryExecutions/handlers.ts';
import { diff } from './operations/changes/diff.ts';
import { endWork } from './operations/inside/endWork.ts';
import { observeForge } from './operations/inside/observeForge.ts';
import { storeChanges } from './operations/inside/storeChanges.ts';
import { storyTouches } from './operations/inside/storyTouches.ts';
import { tellForgeDoubt } from './operations/inside/tellForgeDoubt.ts';
import { workAround } from './operations/inside/workAround.ts';
import { budgets } from './operations/budgets/handlers.ts';
import { usage } from './operations/usage/handlers.ts';
import { locks } from './operations/locks/handlers.ts';
import { conflicts } from './operations/projects/conflicts.ts';
import { deliveryGroups } from './operations/deliveryGroups/handlers.ts';

export { abandonedAfterDays, endAbandonedRuns } from './data/ending-runs.ts';
export { runLogRetentionDays } from './data/run-logs.ts';
export { type ExpiryResult, recordExpiries, type LeasedUnit } from './data/expiries.ts';
export { executionReactions } from './reactions.ts';
export { reworkReactions } from './rework-reactions.ts';
export { runReactions } from './run-reactions.ts';
export { visibleTransitions } from './leases/states.ts';
export { groupTransitions } from './rules/group-states.ts';
export {
  runStateByEventKind,
  isFinalRunState,
  stalledAfterSeconds,
  runStateAfterEvent,
} from './rules/run-states.ts';

/** The handlers that only other domains call. They are not part of the public API. */
export const internalHandlers = {
  workAround,
  storyTouches,
  storeChanges,
  endWork,
  observeForge,
  tellForgeDoubt,
};

/** The handlers by namespace. `projects` is the part of that namespace about conflicts of work. */
export const deliveryHandlers = {
  locks,
  deliveryExecutions,
  deliveryGroups,
  agents,
  usage,
  budgets,
  changes: { diff },
  projects: { conflicts },
};
