/**
 * Instances of the API are restarted one after the other, behind a load balancer that checks their readiness.
 * Clients do not retry, so that each answer counts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describeExit, type ThrowAwayApp } from '@muster/tools';
import {
  type ApiSite,
  asksToRetry,
  beginWork,
  type CallReply,
  isServed,
  oddAmong,
  openApi,
  reasonOf,
} from '../callers.ts';
import { without } from '../guards.ts';
import { during } from '../havoc.ts';
import { property, type RunProperty } from '../property.ts';

interface Extent {
  readonly clients: number;
  /** The number of restarts, one after the other. */
  readonly stops: number;
  /** The time that a stopping instance waits for the load balancer to notice, in milliseconds. */
  readonly noticeMillis: number;
  /**
   * Is true if a new connection pool must serve all calls in time, which needs a machine without other load.
   */
  readonly isTimed: boolean;
  /** Is true if instances are killed instead of stopped. */
  readonly kills?: boolean;
}

/**
 * The interval of the load balancer's checks. The drain notice of an instance is much longer, because the
 * machine may be busy.
 */
const pollMillis = 50;
const short: Extent = { clients: 20, stops: 1, noticeMillis: 4_000, isTimed: false };
const long: Extent = { clients: 60, stops: 10, noticeMillis: 4_000, isTimed: true };
/** The pool is large enough for one instance to have request slots for all clients. */
const connections = '20';
/** The longest wait that the contract allows. */
const waitSeconds = 25;

interface Copy {
  api: ThrowAwayApp;
  /** The result of the load balancer's last check. */
  isReady: boolean;
}

const run: RunProperty<Extent> = async (
  { services, note },
  { clients, stops, noticeMillis, isTimed, kills = false },
  removals,
) => {
  const site = await openApi(services, {
    ...{ people: clients, removals },
    environment: { DRAIN_NOTICE_MILLIS: noticeMillis.toString(), DATABASE_POOL: connections },
  });
  const { callers, people, start } = site;
  const [{ token }] = people;
  const { projectId, executionId } = await beginWork(site.as(token));
  const first: Copy = { api: site.api, isReady: true };
  const copies = [first, { api: await start(), isReady: true }];
  const heard: CallReply[] = [];
  const waiting: Promise<CallReply>[] = [];
  const violations: string[] = [];
  await during(trafficAt(site, copies, projectId, heard), async () => {
    for (let count = 1; count <= stops; count += 1) {
      const copy = copies[count % copies.length] ?? first;
      const { api } = copy;
      // A client waits for an event that does not come. The instance must stop without waiting for this
      // client.
      const params = { executionId, afterSeq: 1_000, waitSeconds };
      waiting.push(callers.call(api.url, token, 'deliveryExecutions.eventsSince', params));
      const enough = heard.length + clients;
      while (heard.length < enough) await pause(pollMillis);
      if (kills) api.kill();
      else await api.stop();
      const exit = await api.exited;
      if (exit.code !== 0) violations.push(`a copy ended with ${describeExit(exit)}`);
      copy.api = await start();
      copy.isReady = true;
      note(`${count} of ${stops} stopped and started anew`);
    }
  });
  const all = [...heard, ...(await Promise.all(waiting))];
  // All clients have finished, so no call is lost if the instances are killed now.
  for (const { api } of copies) api.kill();
  // On a busy machine, a new instance may open its connection pool too late for a call.
  const isLate = (one: CallReply): boolean => asksToRetry(one) && reasonOf(one) === 'database';
  violations.push(...oddAmong(all, 'calls', (one) => isServed(one) || (!isTimed && isLate(one))));
  const closed = all.filter(({ closes }) => closes).length;
  return {
    violations,
    figures: { clients, calls: all.length, stops, 'connections closed by an answer': closed },
  };
};

/**
 * Returns the load balancer, and clients that make one call after the other. Each call goes to an instance
 * that was ready at the last check.
 */
function trafficAt(
  { callers, people }: ApiSite,
  copies: readonly Copy[],
  projectId: string,
  heard: CallReply[],
): (() => Promise<void>)[] {
  const look = async (): Promise<void> => {
    await Promise.all(
      copies.map(async (copy) => {
        const { api } = copy;
        const isReady = isServed(await callers.get(api.url, '/readyz'));
        if (copy.api === api) copy.isReady = isReady;
      }),
    );
    await pause(pollMillis);
  };
  const work = (token: string, turn: number) => async (): Promise<void> => {
    const ready = copies.filter(({ isReady }) => isReady);
    const copy = ready[turn % ready.length];
    if (copy === undefined) {
      await pause(pollMillis);
      return;
    }
    const [operation, params] =
      turn % 3 === 0
        ? ['stories.create', { projectId, title: `Story ${turn}` }]
        : ['stories.list', { projectId, limit: 20 }];
    turn += 1;
    heard.push(await callers.call(copy.api.url, token, operation, params));
  };
  return [look, ...people.map(({ token }, index) => work(token, index))];
}

export const rollingStop = property<Extent>({
  name: 'rolling stop',
  leftTo: 'nx long',
  promise:
    'While copies of the API are stopped and started again one after the other no call fails, and each copy ends by itself.',
  short,
  long,
  run,
  controls: [
    {
      name: 'copies are killed',
      leftTo: 'nx long',
      extent: { ...short, noticeMillis: 0, kills: true },
    },
    {
      name: 'a copy still says that it is ready',
      leftTo: 'the long form',
      without: [without('the balancer is told')],
    },
    {
      name: 'a copy ends without finishing its calls',
      leftTo: 'the long form',
      extent: { ...short, noticeMillis: 0 },
      without: [without('calls are let finish', 'process.exit(0);')],
    },
  ],
});
