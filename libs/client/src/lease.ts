/** A lease that is kept while work goes on: renewed in the background, with what its holder should hear handed over. */
import { type Execution, type InputOf, type Registry, type ResultOf, type Signal } from '@muster/registry';
import { type Client } from './client.ts';
import { isRefusal, MusterError } from './errors.ts';

type Operations = Registry['deliveryExecutions'];
type ParamsOf<Name extends keyof Operations> = Omit<
  InputOf<Operations[Name]>,
  'executionId' | 'leaseToken' | 'requestStop' | 'reason'
>;

export type LeaseTarget = InputOf<Operations['acquire']>;

export interface LeaseOptions {
  /** Told of each signal once, also of those that come while no call is made. */
  readonly onSignal?: (signal: Signal) => void;
}

/** What the work has of its lease. Whatever is done by it renews it. */
export interface Lease {
  readonly executionId: string;
  readonly leaseToken: string;
  /** There is earlier work: go on from `execution().checkpoint`. */
  readonly resumed: boolean;
  /**
   * Aborted when another has the lease, or you may keep it no more, such as where the story is gone or your token ended: stop,
   * nothing that you do counts any more.
   */
  readonly lost: AbortSignal;
  /** As the last answer showed it. */
  execution(): Execution;
  /** Keeps the lease, and hears at once what came in the meantime. It is done in time without being asked for. */
  renew(): Promise<Execution>;
  checkpoint(params: ParamsOf<'checkpoint'>): Promise<Execution>;
  update(params: ParamsOf<'update'>): Promise<Execution>;
  /** Each of these ends the lease. */
  handoff(params: ParamsOf<'handoff'>): Promise<Execution>;
  complete(params: ParamsOf<'complete'>): Promise<Execution>;
  release(reason?: string): Promise<Execution>;
}

/** Renewed when so much of its time is over; expiry takes nothing away, so there is time for a second try. */
const renewAfter = 0.5;
/** And again after so much of it, where the renewal failed. */
const tryAgainAfter = 0.1;

/** Answers to a renewal, which names nothing but the lease: it is not the caller's any more, nor will be. */
const ofNoHolder: ReadonlySet<number> = new Set([401, 403, 404]);

const isStale = (error: unknown): boolean => isRefusal(error, 'stale_lease');

/** What an acquire answered. */
export type Acquired = Pick<
  ResultOf<Operations['acquire']>,
  'execution' | 'leaseToken' | 'resumed' | 'signals'
>;

/** A lease that is renewed until it ends, is lost, or is put down. */
export interface HeldLease extends Lease {
  /** Whether this holder ended it, or lost it. */
  readonly isOver: () => boolean;
  /** Renews it no more, and leaves it as it stands: it can be claimed past its time. */
  readonly putDown: () => void;
}

/** Renews what was acquired in a timer of its own, and hands over what its holder should hear. */
export function holdLease(
  client: Client,
  acquired: Acquired,
  { onSignal = () => undefined }: LeaseOptions = {},
): HeldLease {
  const { deliveryExecutions: api } = client;
  const lost = new AbortController();
  let ended = false;
  /** Calls under way that end it: what else comes too late for them is no loss. */
  let endings = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const grip = { executionId: acquired.execution.id, leaseToken: acquired.leaseToken };
  let execution = acquired.execution;

  const isOver = (): boolean => ended || lost.signal.aborted;
  const renewLater = (share = renewAfter): void => {
    clearTimeout(timer);
    if (isOver()) return;
    const seconds = (execution.lease?.ttlSeconds ?? 0) * share;
    // guard: a lease is renewed in a timer of its own
    timer = setTimeout(() => void renewInTime(), seconds * 1000);
  };
  const hear = (answer: { execution: Execution; signals?: readonly Signal[] }): Execution => {
    execution = answer.execution;
    for (const signal of answer.signals ?? []) onSignal(signal);
    renewLater();
    return execution;
  };
  const asHolder = async (
    call: Promise<{ execution: Execution; signals?: Signal[] }>,
    isLoss = isStale,
  ): Promise<Execution> => {
    try {
      return hear(await call);
    } catch (error) {
      if (!ended && endings === 0 && isLoss(error)) lost.abort(error);
      throw error;
    }
  };
  const renew = (): Promise<Execution> =>
    asHolder(
      api.renew(grip),
      (error) => isStale(error) || (error instanceof MusterError && ofNoHolder.has(error.status)),
    );
  // A failure that passes is no loss: expiry makes the lease claimable, and until another caller claims it, it is ours.
  const renewInTime = (): Promise<unknown> => renew().catch(() => renewLater(tryAgainAfter));
  const putDown = (): void => {
    ended = true;
    clearTimeout(timer);
  };
  const ending = async (call: Promise<ResultOf<Operations['release']>>): Promise<Execution> => {
    endings += 1;
    const after = await asHolder(call.finally(() => (endings -= 1)));
    putDown();
    return after;
  };

  hear(acquired);
  return {
    ...grip,
    ...{ isOver, putDown, renew },
    resumed: acquired.resumed,
    lost: lost.signal,
    execution: () => execution,
    checkpoint: (params) => asHolder(api.checkpoint({ ...grip, ...params })),
    update: (params) => asHolder(api.update({ ...grip, ...params })),
    handoff: (params) => ending(api.handoff({ ...grip, ...params })),
    complete: (params) => ending(api.complete({ ...grip, ...params })),
    release: (reason) => ending(api.release({ ...grip, ...(reason !== undefined && { reason }) })),
  };
}

/**
 * Acquires, works, and lets go: of a lease that the work did not end by itself it releases what is left, so that
 * another can go on from the last checkpoint. What the work throws is thrown on, also where letting go fails.
 */
export async function withLease<Result>(
  client: Client,
  target: LeaseTarget,
  work: (lease: Lease) => Promise<Result>,
  options: LeaseOptions = {},
): Promise<Result> {
  const lease = holdLease(client, await client.deliveryExecutions.acquire(target), options);
  let result: Result;
  try {
    result = await work(lease);
  } catch (error) {
    await letGo(lease).catch(() => undefined);
    throw error;
  }
  await letGo(lease);
  return result;
}

/** It is renewed no more, whatever comes of the release. */
async function letGo(lease: HeldLease): Promise<void> {
  const isOver = lease.isOver();
  lease.putDown();
  if (!isOver) await lease.release().catch(ignoreLoss);
}

/** Another has it by now: then there is nothing to let go of. */
function ignoreLoss(error: unknown): void {
  if (!isStale(error)) throw error;
}
