/** A lease that is renewed in the background while its holder works. Signals are passed to the holder. */
import { isRefusal, MusterError } from '@muster/client-core';
import {
  type Execution,
  type InputOf,
  type ResultOf,
  type Signal,
  type TouchesCheck,
} from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type Client } from './client.ts';

type ExecutionOperations = Registry['deliveryExecutions'];
type ParamsOf<Name extends keyof ExecutionOperations> = Omit<
  InputOf<ExecutionOperations[Name]>,
  'executionId' | 'leaseToken' | 'requestStop' | 'reason'
>;

export type LeaseTarget = InputOf<ExecutionOperations['acquire']>;

export interface LeaseOptions {
  /** Called once for each signal, including signals that arrive while the holder makes no calls. */
  readonly onSignal?: (signal: Signal) => void;
}

/** The interface through which a holder uses its lease. Each call through it renews the lease. */
export interface LeaseHandle {
  readonly executionId: string;
  readonly leaseToken: string;
  /** True if there is earlier work. Continue from `execution().checkpoint`. */
  readonly resumed: boolean;
  /**
   * Aborted when another caller has the lease, or when the holder lost the right to it (the story was
   * deleted, the token ended). Stop working then: the server rejects everything that the holder still sends.
   */
  readonly lost: AbortSignal;
  /** Returns the execution as the last answer showed it. */
  execution(): Execution;
  /** Returns the last checkpoint's files compared with touches of the story; null if that was not possible. */
  touches(): TouchesCheck | null;
  /**
   * Renews the lease and delivers pending signals immediately. The timer also renews it in time without this
   * call.
   */
  renew(params?: ParamsOf<'renew'>): Promise<Execution>;
  checkpoint(params: ParamsOf<'checkpoint'>): Promise<Execution>;
  update(params: ParamsOf<'update'>): Promise<Execution>;
  /** Hands the work over to another member or agent. Like `complete` and `release`, this ends the lease. */
  handoff(params: ParamsOf<'handoff'>): Promise<Execution>;
  complete(params: ParamsOf<'complete'>): Promise<Execution>;
  release(reason?: string): Promise<Execution>;
}

interface HolderAnswer {
  readonly execution: Execution;
  readonly signals?: readonly Signal[];
  /** Servers of earlier versions do not answer with it. */
  readonly touches?: TouchesCheck | null;
}

/** The fraction of the lease's duration after which it is renewed. It leaves time for a second attempt. */
const renewAfterTtlFraction = 0.5;
/** The fraction of the lease's duration after which a failed renewal is retried. */
const retryAfterTtlFraction = 0.1;

/**
 * The statuses of a refused renewal that mean a permanent loss. A renewal names only the lease, so the
 * refusal concerns the lease itself.
 */
const lostLeaseStatuses: ReadonlySet<number> = new Set([401, 403, 404]);

const isStaleLeaseError = (error: unknown): boolean => isRefusal(error, 'stale_lease');

/** The fields of the answer to an acquire that a holder needs. */
export type Acquired = Pick<
  ResultOf<ExecutionOperations['acquire']>,
  'execution' | 'leaseToken' | 'resumed' | 'signals'
>;

/** A lease that is renewed until its work ends it, another caller gets it, or `putDown` is called. */
export interface HeldLease extends LeaseHandle {
  /** Returns true if this holder ended or lost the lease. */
  readonly isOver: () => boolean;
  /** Stops renewing the lease without releasing it. Other callers can claim it after it expires. */
  readonly putDown: () => void;
}

/** Renews an acquired lease in a timer of its own and passes signals to the holder. */
export function holdLease(
  client: Client,
  acquired: Acquired,
  { onSignal = () => undefined }: LeaseOptions = {},
): HeldLease {
  const { deliveryExecutions: api } = client;
  const lost = new AbortController();
  let ended = false;
  /**
   * The number of pending calls that end the lease. If the server refuses a renewal while such a call is
   * pending, the lease does not count as lost.
   */
  let endings = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const grip = { executionId: acquired.execution.id, leaseToken: acquired.leaseToken };
  let execution = acquired.execution;

  const isOver = (): boolean => ended || lost.signal.aborted;
  const renewLater = (share = renewAfterTtlFraction): void => {
    clearTimeout(timer);
    if (isOver()) return;
    const seconds = (execution.lease?.ttlSeconds ?? 0) * share;
    // guard: a lease is renewed in a timer of its own
    timer = setTimeout(() => void renewInTime(), seconds * 1000);
  };
  let touches: TouchesCheck | null = null;
  const hear = (answer: HolderAnswer): Execution => {
    execution = answer.execution;
    if (answer.touches !== undefined) touches = answer.touches;
    for (const signal of answer.signals ?? []) onSignal(signal);
    renewLater();
    return execution;
  };
  const asHolder = async (call: Promise<HolderAnswer>, isLoss = isStaleLeaseError): Promise<Execution> => {
    try {
      return hear(await call);
    } catch (error) {
      if (!ended && endings === 0 && isLoss(error)) lost.abort(error);
      throw error;
    }
  };
  const renew = (params?: ParamsOf<'renew'>): Promise<Execution> =>
    asHolder(
      api.renew({ ...grip, ...params }),
      (error) =>
        isStaleLeaseError(error) || (error instanceof MusterError && lostLeaseStatuses.has(error.status)),
    );
  // Retries a failed renewal, because a temporary failure does not lose the lease. An expired lease stays
  // with its holder until another caller claims it.
  const renewInTime = (): Promise<unknown> => renew().catch(() => renewLater(retryAfterTtlFraction));
  const putDown = (): void => {
    ended = true;
    clearTimeout(timer);
  };
  const ending = async (call: Promise<HolderAnswer>): Promise<Execution> => {
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
    touches: () => touches,
    checkpoint: (params) => asHolder(api.checkpoint({ ...grip, ...params })),
    update: (params) => asHolder(api.update({ ...grip, ...params })),
    handoff: (params) => ending(api.handoff({ ...grip, ...params })),
    complete: (params) => ending(api.complete({ ...grip, ...params })),
    release: (reason) => ending(api.release({ ...grip, ...(reason !== undefined && { reason }) })),
  };
}

/**
 * Acquires a lease, runs `work` and releases the lease unless the work ended it, so that another caller can
 * continue from the last checkpoint. Rethrows the error of the work, even if the release fails too.
 */
export async function withLease<Result>(
  client: Client,
  target: LeaseTarget,
  work: (lease: LeaseHandle) => Promise<Result>,
  options: LeaseOptions = {},
): Promise<Result> {
  const lease = holdLease(client, await client.deliveryExecutions.acquire(target), options);
  let result: Result;
  try {
    result = await work(lease);
  } catch (error) {
    await stopAndReleaseLease(lease).catch(() => undefined);
    throw error;
  }
  await stopAndReleaseLease(lease);
  return result;
}

/** Stops the renewals and releases the lease. The renewals stop even if the release fails. */
async function stopAndReleaseLease(lease: HeldLease): Promise<void> {
  const isOver = lease.isOver();
  lease.putDown();
  if (!isOver) await lease.release().catch(ignoreLostLease);
}

/** Ignores the refusal of a release because another caller has the lease by now. */
function ignoreLostLease(error: unknown): void {
  if (!isStaleLeaseError(error)) throw error;
}
