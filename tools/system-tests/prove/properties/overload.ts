/**
 * Sends more calls than the API can answer. A sleep in the authorization check makes Postgres the bottleneck,
 * so that the capacity is about equal on every machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  asksToRetry,
  beginWork,
  type CallReply,
  isServed,
  millisOf,
  oddAmong,
  openApi,
  reasonOf,
} from '../callers.ts';
import { type GuardRemoval, without } from '../guards.ts';
import { foundOrganization } from '../organization.ts';
import { property, type Findings, type RunSetup } from '../property.ts';
import { openTap } from '../tap.ts';

const wayIn = without('the way in');
const slowDoor = (seconds: number) => [{ ...wayIn, put: `, pg_sleep(${seconds})` }];

interface Extent {
  readonly connections: number;
  /** The minimum duration of each call, in seconds. */
  readonly sleepSeconds: number;
  /**
   * The number of callers and the duration with which the capacity is measured. Without this field, the run
   * checks no durations.
   */
  readonly measured?: { readonly callers: number; readonly seconds: number };
  /**
   * The concurrent callers, each of whom calls again immediately after an answer, and the numbers of renewals
   * and answers to reach.
   */
  readonly crowd: { readonly callers: number; readonly renewals: number; readonly served: number };
}

const short: Extent = {
  ...{ connections: 2, sleepSeconds: 0.04 },
  crowd: { callers: 60, renewals: 8, served: 20 },
};
const long: Extent = {
  ...{ connections: 10, sleepSeconds: 0.02 },
  measured: { callers: 30, seconds: 10 },
  crowd: { callers: 300, renewals: 100, served: 1_000 },
};

const organizations = 4;
const leastGoodput = 0.85;
const mostMillis = 1_000;
/** The load during the overload, as a multiple of the capacity. */
const load = 2;
const turnMillis = 10;
/**
 * The pause of a caller without an answer. It is much shorter than the time for which a request slot stays
 * occupied.
 */
const momentMillis = 50;

type Ask = () => Promise<CallReply>;

async function begin(
  { services }: RunSetup,
  { connections, sleepSeconds }: Extent,
  removals: readonly GuardRemoval[],
) {
  const database = await services.database();
  const { url } = await openTap(services, database.url, slowDoor(sleepSeconds));
  const { api, callers, as, people } = await openApi(services, {
    ...{ people: 1, removals, database },
    environment: { DATABASE_URL: url, DATABASE_POOL: connections.toString() },
  });
  const call = as(people[0].token);
  const { storyId, executionId, leaseToken } = await beginWork(call);
  const asks: [Ask, ...Ask[]] = [() => call('stories.get', { storyId })];
  // Several organizations are needed, because one alone may not use all request slots.
  while (asks.length < organizations) {
    const other = await foundOrganization(database, 1);
    const theirs = as(other.people[0].token);
    const work = await beginWork(theirs);
    asks.push(() => theirs('stories.get', { storyId: work.storyId }));
  }
  let asked = 0;
  return {
    api,
    ask: (): Promise<CallReply> => {
      asked += 1;
      return (asks[asked % asks.length] ?? asks[0])();
    },
    renew: () => call('deliveryExecutions.renew', { executionId, leaseToken }),
    look: (path: string) => callers.get(api.url, path),
  };
}

/**
 * Runs `count` callers until `isEnough` returns true. Each calls again after an answer, or a moment after a
 * refusal.
 */
async function crowd(count: number, ask: Ask, isEnough: () => boolean): Promise<CallReply[]> {
  const heard: CallReply[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (!isEnough()) {
        const one = await ask();
        heard.push(one);
        if (!isServed(one)) await pause(momentMillis);
      }
    }),
  );
  return heard;
}

/** Starts the given number of calls per second without waiting for their answers. */
async function stream(perSecond: number, seconds: number, ask: Ask): Promise<CallReply[]> {
  const calls: Promise<CallReply>[] = [];
  const began = performance.now();
  for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - began) {
    for (const due = (perSecond * elapsed) / 1_000; calls.length < due;) calls.push(ask());
    await pause(turnMillis);
  }
  return Promise.all(calls);
}

/**
 * The longest acceptable delay of a refusal, as a share of an answer's duration. After a longer delay, the
 * refused call has waited for a request slot.
 */
const atOnce = 0.5;

const isShed = (heard: CallReply): boolean => reasonOf(heard) === 'overload';
/**
 * A call that got a request slot may still wait too long for a connection. It is then refused with an equal
 * reason but another message. Each run expects calls with this message, so a changed text is noticed.
 */
const foundNoPlace = (heard: CallReply): boolean =>
  isShed(heard) && String(heard.body['message']).startsWith('The server has too many requests in progress');

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const { api, ask, renew, look } = await begin(setting, extent, removals);
  const violations: string[] = [];
  const figures: Record<string, number> = {};

  if (extent.measured !== undefined) {
    const { callers: count, seconds } = extent.measured;
    const until = performance.now() + seconds * 1_000;
    const usual = await crowd(count, ask, () => performance.now() > until);
    const capacity = usual.filter(isServed).length / seconds;
    setting.note(`${Math.round(capacity)} answers a second with ${count} callers`);
    const heard = await stream(capacity * load, seconds, ask);
    const served = heard.filter(isServed);
    const goodput = served.length / seconds / capacity;
    const p99 = millisOf(served, 0.99);
    figures['answers a second'] = Math.round(capacity);
    figures['% of them at twice the load'] = Math.round(goodput * 100);
    figures['ms at p99'] = Math.round(p99);
    if (goodput < leastGoodput)
      violations.push(`at twice the load ${Math.round(goodput * 100)} % was answered`);
    if (p99 > mostMillis) violations.push(`who was answered waited ${Math.round(p99)} ms at p99`);
    violations.push(...wrongIn(heard));
  }

  // All request slots stay in use, because each finished call is followed by another.
  let isOver = false;
  let served = 0;
  const crowding = crowd(
    extent.crowd.callers,
    async () => {
      const heard = await ask();
      served += Number(isServed(heard));
      return heard;
    },
    () => isOver && served >= extent.crowd.served,
  );
  const renewals: CallReply[] = [];
  const health: CallReply[] = [];
  try {
    while (renewals.length < extent.crowd.renewals) {
      renewals.push(await renew());
      health.push(await look('/livez'));
      // /readyz also waits for Postgres, so it is requested only in a run that checks durations.
      if (extent.measured !== undefined) health.push(await look('/readyz'));
    }
  } finally {
    isOver = true;
  }
  const heard = await crowding;
  violations.push(...wrongIn(heard));
  // On a busy machine Postgres may be slow too. There, only renewals that found no request slot count.
  const shedRenewals = renewals.filter(extent.measured === undefined ? foundNoPlace : isShed).length;
  if (shedRenewals > 0) violations.push(`${shedRenewals} of ${renewals.length} renewals found no place`);
  violations.push(...oddAmong(health, 'questions for its health'));
  if (!api.isAlive()) violations.push('the process has ended');
  else if (!isServed(await ask())) violations.push('afterwards a single call is not answered');
  return {
    violations,
    figures: {
      ...figures,
      calls: heard.length,
      answered: served,
      'turned away': heard.filter(isShed).length,
      renewals: renewals.length,
    },
  };
}

/** Checks that each call was either answered or refused immediately with a request to retry. */
function wrongIn(heard: readonly CallReply[]): string[] {
  const waited = millisOf(heard.filter(isServed), 0.5);
  const turnedAwayAfter = millisOf(heard.filter(isShed), 0.5);
  const late = `half of the others were turned away only after ${Math.round(turnedAwayAfter)} ms`;
  return [
    ...(turnedAwayAfter > waited * atOnce ? [`${late}, and answers took ${Math.round(waited)}`] : []),
    ...oddAmong(heard, 'calls', (one) => isServed(one) || asksToRetry(one)),
    ...(heard.some(isServed) ? [] : ['nobody was answered']),
    ...(heard.some(foundNoPlace) ? [] : [`of ${heard.length} calls none found all places taken`]),
  ];
}

const crowdOf = (renewals: number): Extent => ({ ...short, crowd: { ...short.crowd, renewals } });

export const overload = property<Extent>({
  name: 'overload',
  promise:
    'At twice its capacity the API answers nearly as much as before and as quickly, refuses the other calls with the time to come back, and has a place for each renewal of a lease.',
  short,
  long,
  run,
  controls: [
    {
      name: 'the number of calls at once is not limited',
      leftTo: 'nx long',
      extent: crowdOf(2),
      without: [without('calls in flight', 'const inFlightPerConnection = 1e6;')],
    },
    {
      name: 'a renewal waits for a place like any call',
      leftTo: 'nx long',
      // On a busy machine the callers do not keep every slot in use. Many renewals then succeed without the
      // guard, so the control needs more of them.
      extent: crowdOf(80),
      without: [without('places for what is urgent', 'const most = this.#most;')],
    },
  ],
});
