/** Executes calls that may wait for events. The transport waits, without a transaction or a connection. */
import { type OperationResponse } from './execute.ts';
import { type WaitCondition } from './handle.ts';

/** The end of a wait. After `disconnected` there is no caller left to answer. */
export type WaitEnd = 'advanced' | 'timed_out' | 'disconnected';

/**
 * Executes a call, and again each time the stream that it waits for advances, until the call waits no longer
 * or its time is up. `execute` gets `isLastAttempt` true for the attempt that must not wait.
 */
export async function executeWithWaits(
  execute: (isLastAttempt: boolean) => Promise<OperationResponse>,
  wait: (condition: WaitCondition) => Promise<WaitEnd>,
): Promise<OperationResponse> {
  let response = await execute(false);
  if (response.waitCondition === null) return response;
  const deadline = performance.now() + response.waitCondition.timeoutSeconds * 1_000;
  while (response.waitCondition !== null) {
    const timeoutSeconds = Math.max(0, deadline - performance.now()) / 1_000;
    const end = await wait({ ...response.waitCondition, timeoutSeconds });
    // The last response says that nothing was found. Another attempt could take something for no one.
    if (end === 'disconnected') return response;
    response = await execute(end === 'timed_out' || performance.now() >= deadline);
  }
  return response;
}
