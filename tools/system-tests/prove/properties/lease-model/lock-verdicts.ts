/** The contract's rules for locks that belong to an execution, and for other locks on the same files. */
import { type TargetName } from '../../board.ts';
import { type Name } from '../../team.ts';
import { type ModelExecution, type ModelHolder, isSame, type Model, openOf } from './model.ts';
import { done, isViewer, refused, type Forecast } from './verdicts.ts';

/**
 * Returns the verdict on a request for a lock on the target's files that belongs to the target's execution.
 */
export function lock(model: Model, name: TargetName, holder: ModelHolder): Forecast {
  if (isViewer(holder.person)) return refused('forbidden');
  const target = model.targets[name];
  const execution = openOf(target);
  if (execution === null || target.lease?.holder.person !== holder.person) return refused('stale_lease');
  if (isInTheWay(execution, holder)) return refused('lock_held');
  return done(() => {
    if (execution.lock !== null && !isSame(execution.lock.holder, holder)) loseLock(execution);
    execution.lock = { holder, lapsed: false };
    return {};
  });
}

/** Returns the verdict on a request for a lock on the target's files that belongs to no execution. */
export function lockBeside(model: Model, name: TargetName, person: Name): Forecast {
  if (isViewer(person)) return refused('forbidden');
  const execution = openOf(model.targets[name]);
  if (execution !== null && isInTheWay(execution, { person, run: 'beside' })) return refused('lock_held');
  return done(() => {
    if (execution !== null && execution.lock !== null) loseLock(execution);
    return {};
  });
}

const isInTheWay = ({ lock: held }: ModelExecution, holder: ModelHolder): boolean =>
  held !== null && !held.lapsed && !isSame(held.holder, holder);

/**
 * Removes a lapsed lock, because another lock was granted. The current holder of the execution is informed,
 * whether or not the lapsed lock was theirs.
 */
function loseLock(execution: ModelExecution): void {
  execution.lock = null;
  if (['leased', 'waiting_input'].includes(execution.state))
    execution.news.push({ kind: 'lock_conflict', by: 'time' });
}
