/**
 * Tracks stop requests of this window, so that the member who made one is notified when the work has stopped.
 */
import { type Event } from '@muster/contract';

interface AwaitedStop {
  readonly executionId: string;
  readonly workName: string;
  readonly holderName: string;
}
const awaitedStops = new Map<string, AwaitedStop>();
const workEndingKinds: ReadonlySet<string> = new Set([
  ...['execution.released', 'execution.submitted', 'execution.completed', 'execution.superseded'],
  'lease.expired',
]);

export const awaitStop = (executionId: string, workName: string, holderName: string): void => {
  awaitedStops.set(executionId, { executionId, workName, holderName });
};

export const forgetStop = (executionId: string): void => {
  awaitedStops.delete(executionId);
};

/**
 * If the event ends work whose stop this window requested, returns the request and forgets it. Otherwise
 * returns undefined.
 */
export function takeAwaitedStop({ kind, data }: Event): AwaitedStop | undefined {
  const { executionId } = data;
  if (!workEndingKinds.has(kind) || typeof executionId !== 'string') return undefined;
  const found = awaitedStops.get(executionId);
  awaitedStops.delete(executionId);
  return found;
}
