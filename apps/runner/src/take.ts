/** Acquires the story of a run: by its id, as the next one, or again after its runner died. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Acquired, type Client, isRefusal, MusterError, NoAnswer } from '@muster/client';
import { type Execution } from '@muster/registry';
import { type JournalEntry, type RunResult } from './journal.ts';

export interface StoryFilter {
  readonly storyId?: string;
  readonly labels?: string[];
  readonly assignedToMe?: boolean;
  /** True if the runner waits while there is no story to acquire. */
  readonly waits: boolean;
  /** Aborts to end the search for a story. No story is acquired afterwards. */
  readonly until: AbortSignal;
}

/**
 * The parallel runs of one runner. They acquire stories one after the other, so that each knows what the
 * others hold.
 */
export interface Siblings {
  /** Ids of the stories that the runs hold. */
  readonly held: Set<string>;
  /** Serializes work: it runs after the work of earlier callers has ended. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function createSiblings(): Siblings {
  let last: Promise<unknown> = Promise.resolve();
  return {
    held: new Set(),
    inTurn: (work) => {
      const mine = last.then(work);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}

export interface TakeSetting {
  readonly client: Client;
  /** The client for calls that wait. It stops when the runner is asked to end. */
  readonly waiting: Client;
  readonly entry: JournalEntry;
  readonly siblings: Siblings;
  readonly leaving: AbortSignal;
  readonly onNone: (why: string) => void;
}

/** The longest wait for an event, because a lease may also expire without one. */
const longestWaitMillis = 60_000;
const waitSeconds = 20;
const pauseMillis = 1_000;

/** Returns true if Muster could not answer the call, so that a runner that waits makes it again. */
const isOutage = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  (error instanceof MusterError && (error.status === 429 || error.status >= 500));

async function takeNext(setting: TakeSetting, wanted: StoryFilter): Promise<Acquired | undefined> {
  const { leaving, onNone } = setting;
  let told: string | undefined;
  while (!leaving.aborted) {
    try {
      const { acquired, why, cursor } = await tryNext(setting, wanted);
      if (acquired !== undefined) return acquired;
      if (why !== told || !wanted.waits) onNone(why);
      told = why;
      if (!wanted.waits) return undefined;
      await somethingHappens(setting, cursor);
    } catch (error) {
      if (!wanted.waits || !isOutage(error)) throw error;
      await pause(pauseMillis, undefined, { signal: leaving }).catch(() => undefined);
    }
  }
  return undefined;
}

interface NextStory {
  readonly acquired: Acquired | undefined;
  /** The stories that could not be acquired, and the reasons. */
  readonly why: string;
  /** The position in the events before the attempt. */
  readonly cursor: string;
}

async function tryNext(
  { client, waiting, entry, siblings }: TakeSetting,
  wanted: StoryFilter,
): Promise<NextStory> {
  // Fetch the cursor before the call, so that no event after the call is missed.
  const { cursor } = await (wanted.waits ? waiting : client).events.list({
    ...{ projectId: entry.project, after: 'latest', limit: 1 },
  });
  const answer = await siblings.inTurn(async () => {
    const next = await client.deliveryExecutions.acquireNext({
      ...{ projectId: entry.project, runId: entry.runId },
      ...(wanted.labels !== undefined && { labels: wanted.labels }),
      ...(wanted.assignedToMe === true && { assignedToMe: true }),
    });
    if (next.execution !== null) siblings.held.add(next.execution.targetId);
    return next;
  });
  const { execution, leaseToken, resumed, signals } = answer;
  const skipped = answer.skipped.filter(({ storyId }) => !siblings.held.has(storyId));
  const why = skipped.map(({ key, reasons }) => `${key} (${reasons.join(', ')})`).join(', ');
  const isAcquired = execution !== null && leaseToken !== null;
  return { acquired: isAcquired ? { execution, leaseToken, resumed, signals } : undefined, why, cursor };
}

async function somethingHappens({ waiting, entry, leaving }: TakeSetting, cursor: string): Promise<void> {
  const deadline = performance.now() + longestWaitMillis;
  const params = { projectId: entry.project, after: cursor, limit: 1, waitSeconds };
  while (!leaving.aborted && performance.now() < deadline) {
    const { items } = await waiting.events.list(params);
    if (items.length > 0) return;
  }
}

/** Acquires the story of a run. Returns undefined if there is no story to acquire. */
export async function take(setting: TakeSetting, wanted: StoryFilter): Promise<Acquired | undefined> {
  if (wanted.storyId === undefined) return takeNext(setting, wanted);
  return setting.client.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: wanted.storyId, runId: setting.entry.runId, start: true },
  });
}

const held = ['leased', 'waiting_input', 'stalled'] as const;
const isHeld = ({ state }: Execution): boolean => held.some((one) => one === state);

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
export function gone(error: unknown): undefined {
  if (!isRefusal(error, 'not_found')) throw error;
}

/** Acquires the story of the run again, but only if the run still holds it. */
export async function takeAgain(client: Client, entry: JournalEntry): Promise<RecoveredWork> {
  const { runId, work } = entry;
  const execution = await (
    work === undefined
      ? findHeldBy(client, entry)
      : client.deliveryExecutions.get({ executionId: work.executionId }).then((answer) => answer.execution)
  ).catch(gone);
  if (execution === undefined)
    return work === undefined ? { kind: 'none' } : { kind: 'lost', why: 'its story was deleted' };
  if (!isHeld(execution)) {
    return execution.runId === runId
      ? { kind: 'over', execution }
      : { kind: 'lost', why: `its story was ended as ${execution.state} by another run` };
  }
  if (execution.lease?.runId !== runId) {
    return {
      kind: 'lost',
      why: `${execution.lease?.holder.name ?? 'someone else'} has taken over the story`,
    };
  }
  try {
    const { targetType, targetId } = execution;
    const acquired = await client.deliveryExecutions.acquire({ targetType, targetId, runId });
    if (work === undefined || acquired.execution.lease?.epoch === work.epoch) {
      return { kind: 'held', acquired };
    }
    // Another caller acquired and released the story between the two calls, so the work may have changed.
    const { id: executionId } = acquired.execution;
    await client.deliveryExecutions.release({ executionId, leaseToken: acquired.leaseToken });
    return { kind: 'lost', why: 'someone else held the story in the meantime' };
  } catch (error) {
    if (isRefusal(error, 'stop_requested')) return { kind: 'lost', why: 'a stop was requested' };
    if (isRefusal(error, 'lease_held') || isRefusal(error, 'invalid_transition')) {
      return { kind: 'lost', why: error.body.message };
    }
    throw error;
  }
}

async function findHeldBy(client: Client, entry: JournalEntry): Promise<Execution | undefined> {
  const all = client.deliveryExecutions.list.all({
    ...{ projectId: entry.project, state: [...held], limit: 200 },
    ...(entry.holderId !== undefined && { holderId: entry.holderId }),
  });
  for await (const execution of all) if (execution.lease?.runId === entry.runId) return execution;
  return undefined;
}

/** Returns the verdict of a run whose work has already ended at the API. */
export const verdictOf = ({ state, outcome, summary }: Execution): RunResult => ({
  outcome: 'ended',
  summary: summary ?? `the work is ${outcome ?? state}`,
});
