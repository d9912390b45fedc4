/**
 * Tracks stop requests of this window, so that the member who made one is notified when the work has stopped.
 */
import { type Event } from '@muster/registry';

interface Awaited {
  readonly executionId: string;
  readonly name: string;
  readonly holder: string;
}
const awaited = new Map<string, Awaited>();
const ends: ReadonlySet<string> = new Set([
  ...['execution.released', 'execution.submitted', 'execution.completed', 'execution.superseded'],
  'lease.expired',
]);

export const awaitStop = (executionId: string, name: string, holder: string): void => {
  awaited.set(executionId, { executionId, name, holder });
};

export const forgetStop = (executionId: string): void => {
  awaited.delete(executionId);
};

/** Returns the awaited work that stopped with this event, once; undefined if none was awaited. */
export function stoppedBy({ kind, data }: Event): Awaited | undefined {
  const { executionId } = data;
  if (!ends.has(kind) || typeof executionId !== 'string') return undefined;
  const found = awaited.get(executionId);
  awaited.delete(executionId);
  return found;
}
