/**
 * Simulated holders. They acquire a unit, write under their grant, pause or die, and often do not stop when
 * their lease ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, httpTransport, MusterError } from '@muster/client';
import { type Dice } from '@muster/tools';
import { type Pauses } from '../../havoc.ts';
import { type TestUser } from '../../organization.ts';
import { type Site } from '../../site.ts';

export interface UnitRef {
  readonly type: 'story' | 'delivery_group';
  readonly id: string;
}

export type CallName = 'acquire' | 'checkpoint' | 'renew' | 'release' | 'complete';

/** A call of a holder, and its outcome. Times are milliseconds of this process's monotonic clock. */
export interface Deed {
  readonly name: CallName;
  readonly unitId: string;
  readonly runId: string;
  readonly epoch: number;
  /** The start of the first attempt. */
  readonly begunAt: number;
  readonly endedAt: number;
  /**
   * `undone`: the call was refused, or the answer says that it did not happen. `unknown`: no answer came, so
   * the call may have happened.
   */
  readonly outcome: 'acknowledged' | 'undone' | 'unknown';
  /** The summary of a checkpoint; null for other calls. */
  readonly summary: string | null;
  /** The end of the lease, according to the answer. */
  readonly expiresAt: string | null;
}

export interface Course {
  readonly site: Site;
  readonly units: readonly UnitRef[];
  readonly history: Deed[];
  /** Counts the holders by the way in which their work ended. */
  readonly fates: Map<string, number>;
  readonly isOver: () => boolean;
  /** The bounds of a holder's pause, in milliseconds. */
  readonly pauses: Pauses;
}

const ttlSeconds = 5;
const minTimeoutMillis = 400;
const maxTimeoutMillis = 3_000;
/** The number of attempts of a call that has an idempotency key. */
const mostTries = 6;
const maxStepsPerLease = 30;

interface Grant {
  readonly unit: UnitRef;
  readonly runId: string;
  readonly executionId: string;
  readonly leaseToken: string;
  readonly epoch: number;
}

/** Acquires units and works on them as one person until the run is over. */
export async function hold(
  course: Course,
  dice: Dice,
  person: TestUser,
  mayTakeOver: boolean,
): Promise<void> {
  const holder = new HeldLease(course, dice, person);
  while (!course.isOver()) {
    const grant = await holder.acquire(dice.pick(course.units), mayTakeOver && dice.chance(0.3));
    if (grant !== undefined) await holder.serve(grant);
  }
}

class HeldLease {
  readonly #course: Course;
  readonly #dice: Dice;
  readonly #clients: readonly Client[];
  #written = 0;

  constructor(course: Course, dice: Dice, { token }: TestUser) {
    this.#course = course;
    this.#dice = dice;
    this.#clients = course.site.copies.map(({ url }) =>
      createClient(
        httpTransport({
          baseUrl: url,
          token,
          fetch: (to, init) => {
            const signal = AbortSignal.timeout(dice.between(minTimeoutMillis, maxTimeoutMillis));
            return fetch(to, { ...init, signal });
          },
        }),
      ),
    );
  }

  async acquire(unit: UnitRef, takeOver: boolean): Promise<Grant | undefined> {
    const runId = crypto.randomUUID();
    const granted = await this.#do('acquire', { unit, runId, epoch: 0 }, null, (api, options) =>
      api.deliveryExecutions.acquire(
        { targetType: unit.type, targetId: unit.id, runId, ttlSeconds, takeOver },
        options,
      ),
    );
    if (granted === undefined || granted === 'stale') return undefined;
    const { execution, leaseToken } = granted;
    return { unit, runId, executionId: execution.id, leaseToken, epoch: execution.lease?.epoch ?? 0 };
  }

  /**
   * Works on the unit until the holder loses it, gives it back or dies. A dead holder makes no more calls.
   */
  async serve(grant: Grant): Promise<void> {
    const grip = { executionId: grant.executionId, leaseToken: grant.leaseToken };
    for (let step = 0; step < maxStepsPerLease && !this.#course.isOver(); step += 1) {
      const chance = this.#dice.next();
      if (chance < 0.04) {
        this.#end('killed');
        return;
      }
      if (chance < 0.1) {
        const { least, most } = this.#course.pauses;
        this.#end('paused');
        await pause(this.#dice.between(least, most));
        continue;
      }
      if (chance < 0.16) {
        await this.#do('release', grant, null, (api, options) =>
          api.deliveryExecutions.release(grip, options),
        );
        this.#end('released');
        // Half of the holders continue for a while with the released lease, as if they had not noticed.
        if (this.#dice.chance(0.5)) continue;
        return;
      }
      if (chance < 0.19) {
        const end = { ...grip, outcome: 'failed' as const, failure: 'timeout' as const };
        await this.#do('complete', grant, null, (api, options) =>
          api.deliveryExecutions.complete(end, options),
        );
        this.#end('completed');
        return;
      }
      if (chance < 0.3) {
        const renewed = await this.#do('renew', grant, null, (api, options) =>
          api.deliveryExecutions.renew(grip, options),
        );
        if (renewed === 'stale') return;
        continue;
      }
      this.#written += 1;
      const summary = `${grant.runId} ${this.#written}`;
      const written = await this.#do('checkpoint', grant, summary, (api, options) =>
        api.deliveryExecutions.checkpoint({ ...grip, summary }, options),
      );
      if (written === 'stale' && this.#dice.chance(0.7)) {
        this.#end('superseded');
        return;
      }
    }
  }

  #end(fate: string): void {
    const { fates } = this.#course;
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
  }

  /** Makes a call. Half of the calls have an idempotency key and are retried; the others are made once. */
  async #do<Result extends { execution: { lease: { epoch: number; expiresAt: string } | null } }>(
    name: CallName,
    { unit, runId, epoch }: Pick<Grant, 'unit' | 'runId' | 'epoch'>,
    summary: string | null,
    call: (api: Client, options: { idempotencyKey?: string }) => Promise<Result>,
  ): Promise<Result | 'stale' | undefined> {
    const isKeyed = this.#dice.chance(0.5);
    const options = isKeyed ? { idempotencyKey: crypto.randomUUID() } : {};
    const begunAt = performance.now();
    let mayHaveHappened = false;
    const note = (outcome: Deed['outcome'], result?: Result): void => {
      const lease = result?.execution.lease ?? null;
      this.#course.history.push({
        ...{ name, unitId: unit.id, runId, begunAt, endedAt: performance.now(), outcome, summary },
        epoch: name === 'acquire' ? (lease?.epoch ?? 0) : epoch,
        expiresAt: lease?.expiresAt ?? null,
      });
    };
    for (let tries = 1; tries <= (isKeyed ? mostTries : 1); tries += 1) {
      try {
        const result = await call(this.#dice.pick(this.#clients), options);
        note('acknowledged', result);
        return result;
      } catch (error) {
        if (!(error instanceof MusterError)) mayHaveHappened = true;
        else if (error.reason === 'outcome_unknown' || error.reason === 'idempotency_in_flight') {
          mayHaveHappened = true;
        } else if (error.status !== 503) {
          note(mayHaveHappened ? 'unknown' : 'undone');
          if (error.status >= 500 || error.status < 409) throw error;
          return error.reason === 'stale_lease' ? 'stale' : undefined;
        }
        await pause(this.#dice.between(20, 200));
      }
    }
    note(mayHaveHappened ? 'unknown' : 'undone');
    return undefined;
  }
}
