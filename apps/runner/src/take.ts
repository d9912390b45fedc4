/** Acquires the story of a run: by its id, as the next one, or again after its runner died. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Acquired, type Client, isRefusal, MusterError, NoAnswer } from '@muster/client';
import { type Execution } from '@muster/contract';
import { type JournalEntry, type RunResult } from './journal.ts';

export interface StoryFilter {
  readonly storyId?: string;
  readonly labels?: string[];
  readonly assignedToMe?: boolean;
  /** True if the run takes over the live lease of another run of its agent, or any lease as a lead. */
  readonly takesOver?: boolean;
  /** True if the runner waits while there is no story to acquire. */
  readonly waitsForStory: boolean;
  /** True if the run may begin during an outage, because the runner worked before it. */
  readonly outlastsOutage: boolean;
  /** Aborts to end the search for a story. No story is acquired afterwards. */
  readonly searchEndSignal: AbortSignal;
}

/**
 * The parallel runs of one runner. They acquire stories one after the other, so that each knows what the
 * others hold.
 */
export interface ParallelRuns {
  /** Ids of the stories that the runs hold. */
  readonly heldStoryIds: Set<string>;
  /** Serializes work: it runs after the work of earlier callers has ended. */
  readonly runInTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function createParallelRuns(): ParallelRuns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    heldStoryIds: new Set(),
    runInTurn: (work) => {
      const mine = last.then(work);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}

export interface AcquireOptions {
  readonly client: Client;
  /** The client for calls that wait. It stops when the runner is asked to end. */
  readonly waitingClient: Client;
  readonly entry: JournalEntry;
  readonly parallelRuns: ParallelRuns;
  readonly stopSignal: AbortSignal;
  readonly onNoStory: (why: string) => void;
}

/**
 * The duration of a run's lease in seconds, after which another machine may continue the work of a dead one.
 * The runner renews it after half of this time, whatever the agent does.
 */
const leaseSeconds = 90;
/** The longest wait for an event, because a lease may also expire without one. */
const maxEventWaitMillis = 60_000;
const longPollSeconds = 20;
const retryDelayMillis = 1_000;

/** Returns true if Muster could not answer the call. A runner that waits then makes the call again. */
export const isOutage = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  (error instanceof MusterError && (error.status === 429 || error.status >= 500));

/**
 * Ignores that Muster could not answer a call whose result the run does not need, and rethrows any other
 * error.
 */
export function ignoreOutage(error: unknown): undefined {
  if (!isOutage(error)) throw error;
}

/** Repeats a call while Muster cannot answer it. Returns undefined if the signal aborts first. */
export async function retryDuringOutage<Result>(
  call: () => Promise<Result>,
  endSignal: AbortSignal,
): Promise<Result | undefined> {
  while (!endSignal.aborted) {
    try {
      return await call();
    } catch (error) {
      if (!isOutage(error)) throw error;
      await pause(retryDelayMillis, undefined, { signal: endSignal }).catch(() => undefined);
    }
  }
  return undefined;
}

async function acquireNextStory(options: AcquireOptions, filter: StoryFilter): Promise<Acquired | undefined> {
  const { stopSignal, onNoStory } = options;
  let told: string | undefined;
  while (!stopSignal.aborted) {
    try {
      const { acquired, skippedStories, cursor } = await tryAcquireNext(options, filter);
      if (acquired !== undefined) return acquired;
      if (skippedStories !== told || !filter.waitsForStory) onNoStory(skippedStories);
      told = skippedStories;
      if (!filter.waitsForStory) return undefined;
      await waitForProjectEvent(options, cursor);
    } catch (error) {
      if (!filter.waitsForStory || !isOutage(error)) throw error;
      await pause(retryDelayMillis, undefined, { signal: stopSignal }).catch(() => undefined);
    }
  }
  return undefined;
}

interface AcquireAttempt {
  readonly acquired: Acquired | undefined;
  /** The stories that could not be acquired, and the reasons. */
  readonly skippedStories: string;
  /** The position in the events before the attempt. */
  readonly cursor: string;
}

async function tryAcquireNext(
  { client, waitingClient, entry, parallelRuns }: AcquireOptions,
  filter: StoryFilter,
): Promise<AcquireAttempt> {
  // Fetch the cursor before the call, so that no event after the call is missed.
  const { cursor } = await (filter.waitsForStory ? waitingClient : client).events.list({
    ...{ projectId: entry.project, after: 'latest', limit: 1 },
  });
  const answer = await parallelRuns.runInTurn(async () => {
    const next = await client.deliveryExecutions.acquireNext({
      ...{ projectId: entry.project, runId: entry.runId, ttlSeconds: leaseSeconds },
      ...(filter.labels !== undefined && { labels: filter.labels }),
      ...(filter.assignedToMe === true && { assignedToMe: true }),
    });
    if (next.execution !== null) parallelRuns.heldStoryIds.add(next.execution.targetId);
    return next;
  });
  const { execution, leaseToken, resumed, signals } = answer;
  const skipped = answer.skipped.filter(({ storyId }) => !parallelRuns.heldStoryIds.has(storyId));
  const why = skipped.map(({ key, reasons }) => `${key} (${reasons.join(', ')})`).join(', ');
  const isAcquired = execution !== null && leaseToken !== null;
  return {
    acquired: isAcquired ? { execution, leaseToken, resumed, signals } : undefined,
    skippedStories: why,
    cursor,
  };
}

async function waitForProjectEvent(
  { waitingClient, entry, stopSignal }: AcquireOptions,
  cursor: string,
): Promise<void> {
  const deadline = performance.now() + maxEventWaitMillis;
  const params = { projectId: entry.project, after: cursor, limit: 1, waitSeconds: longPollSeconds };
  while (!stopSignal.aborted && performance.now() < deadline) {
    const { items } = await waitingClient.events.list(params);
    if (items.length > 0) return;
  }
}

/** Acquires the story of a run. Returns undefined if there is no story to acquire. */
export async function acquireStory(
  options: AcquireOptions,
  filter: StoryFilter,
): Promise<Acquired | undefined> {
  const { storyId, outlastsOutage, searchEndSignal } = filter;
  if (storyId === undefined) return acquireNextStory(options, filter);
  const acquire = (): Promise<Acquired> =>
    options.client.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: storyId, runId: options.entry.runId },
      ...{ ttlSeconds: leaseSeconds, start: true, takeOver: filter.takesOver === true },
    });
  try {
    return await (outlastsOutage ? retryDuringOutage(acquire, searchEndSignal) : acquire());
  } catch (error) {
    if (isRefusal(error, 'lease_held') && error.body.details?.['yours'] === true)
      options.onNoStory(
        `another run of the same agent holds ${storyId}. If its machine is dead, add --take-over.`,
      );
    throw error;
  }
}

const heldStates = ['leased', 'waiting_input', 'stalled'] as const;
const isLeaseHeld = ({ state }: Execution): boolean => heldStates.some((one) => one === state);

/** The state in which a run's work is found after its runner died. */
export type RecoveredWork =
  | { readonly kind: 'held'; readonly acquired: Acquired }
  /** The execution has ended, by this run or by another caller. */
  | { readonly kind: 'over'; readonly execution: Execution }
  /** The run had not acquired a story yet. */
  | { readonly kind: 'none' }
  /** Another holder has the story. */
  | { readonly kind: 'lost'; readonly why: string };

/**
 * Returns undefined if the error is `not_found`, and rethrows any other error. A deleted record and a record
 * that is no longer visible give the same error.
 */
export function ignoreNotFound(error: unknown): undefined {
  if (!isRefusal(error, 'not_found')) throw error;
}

/** Acquires the story of the run again, but only if the run still holds it. */
export async function reacquireStory(client: Client, entry: JournalEntry): Promise<RecoveredWork> {
  const { runId, work } = entry;
  const execution = await (
    work === undefined
      ? findHeldExecution(client, entry)
      : client.deliveryExecutions.get({ executionId: work.executionId }).then((answer) => answer.execution)
  ).catch(ignoreNotFound);
  if (execution === undefined)
    return work === undefined ? { kind: 'none' } : { kind: 'lost', why: 'its story was deleted' };
  if (!isLeaseHeld(execution))
    return execution.runId === runId
      ? { kind: 'over', execution }
      : { kind: 'lost', why: `another run already ended the story; its execution is ${execution.state}` };
  if (execution.lease?.runId !== runId)
    return {
      kind: 'lost',
      why: `${execution.lease?.holder.name ?? 'someone else'} has taken over the story`,
    };
  try {
    const { targetType, targetId } = execution;
    const acquired = await client.deliveryExecutions.acquire({
      ...{ targetType, targetId, runId, ttlSeconds: leaseSeconds },
    });
    if (work === undefined || acquired.execution.lease?.epoch === work.epoch)
      return { kind: 'held', acquired };
    // Another caller acquired and released the story between the two calls, so the work may have changed.
    const { id: executionId } = acquired.execution;
    await client.deliveryExecutions.release({ executionId, leaseToken: acquired.leaseToken });
    return { kind: 'lost', why: 'someone else held the story in the meantime' };
  } catch (error) {
    if (isRefusal(error, 'stop_requested')) return { kind: 'lost', why: 'a stop was requested' };
    if (
      isRefusal(error, 'lease_held') ||
      isRefusal(error, 'invalid_transition') ||
      isRefusal(error, 'has_children')
    )
      return { kind: 'lost', why: error.body.message };
    throw error;
  }
}

async function findHeldExecution(client: Client, entry: JournalEntry): Promise<Execution | undefined> {
  const all = client.deliveryExecutions.list.all({
    ...{ projectId: entry.project, state: [...heldStates], limit: 200 },
    ...(entry.holderId !== undefined && { holderId: entry.holderId }),
  });
  for await (const execution of all) if (execution.lease?.runId === entry.runId) return execution;
  return undefined;
}

/** Returns the verdict of a run whose work has already ended at the API. */
export const endedResultOf = ({ state, outcome, summary }: Execution): RunResult => ({
  outcome: 'ended',
  summary: summary ?? `the work is ${outcome ?? state}`,
});
