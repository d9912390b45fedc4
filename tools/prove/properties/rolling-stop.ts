/**
 * Copies of the API are stopped and started anew one after the other, behind a balancer that asks each whether it is
 * ready. No client tries anything again: each answer counts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startThrowAwayApi } from '../../dev/throw-away-api.ts';
import { type ThrowAwayApp } from '../../dev/throw-away-app.ts';
import { describeExit } from '../../dev/service-process.ts';
import { type Alteration, findBundle } from '../bundles.ts';
import {
  asksToComeAgain,
  type Callers,
  type Heard,
  idIn,
  inWords,
  openCallers,
  reasonOf,
} from '../callers.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';
import { foundOrganization } from '../site.ts';
import { without } from '../guards.ts';

interface Extent {
  readonly clients: number;
  /** How often a copy is stopped, one after the other. */
  readonly stops: number;
  /** How long a copy waits for the balancer to see that it is stopping. */
  readonly noticeMillis: number;
  /** Whether a pool that is opened anew must give all calls a connection in time: only where the machine is quiet. */
  readonly isTimed: boolean;
}

const copiesOfApi = 2;
/** So often the balancer asks; the notice is far more, since the machine may be busy. */
const lookMillis = 50;
const extents: Readonly<Record<Scale, Extent>> = {
  short: { clients: 20, stops: 1, noticeMillis: 4_000, isTimed: false },
  long: { clients: 60, stops: 10, noticeMillis: 4_000, isTimed: true },
};
/** So that one copy has places for all clients. */
const connections = '20';
/** The longest that the contract lets a call wait. */
const waitSeconds = 25;

interface Copy {
  api: ThrowAwayApp;
  /** As the balancer saw it last. */
  isReady: boolean;
}

type Stop = (api: ThrowAwayApp) => Promise<void>;

const onSignal: Stop = (api) => api.stop();
const killed: Stop = async (api) => {
  api.kill();
  await api.exited;
};

interface Options {
  readonly stop?: Stop;
  readonly alterations?: readonly Alteration[];
}

async function run(
  { services, note }: Setting,
  { clients, stops, noticeMillis, isTimed }: Extent,
  { stop = onSignal, alterations = [] }: Options = {},
): Promise<Report> {
  const database = await services.database();
  const { people } = await foundOrganization(database, clients);
  const main = await findBundle(services, 'coordination-api', alterations);
  const callers = openCallers(services);
  const start = async (): Promise<ThrowAwayApp> => {
    const api = await startThrowAwayApi({
      ...{ main, log: 'warn', databaseUrl: database.url },
      environment: { DRAIN_NOTICE_MILLIS: noticeMillis.toString(), DATABASE_POOL: connections },
    });
    // No client is there any more that would have to notice.
    services.onStop(() => killed(api));
    return api;
  };
  const copies = await Promise.all(
    Array.from({ length: copiesOfApi }, async (): Promise<Copy> => ({ api: await start(), isReady: true })),
  );
  const [first] = copies;
  const owner = people[0]?.token ?? '';
  if (first === undefined) throw new Error('there is no copy');
  const { projectId, executionId } = await makeWork(callers, first.api.url, owner);

  const tokens = people.map(({ token }) => token);
  const traffic = startTraffic(callers, copies, tokens, projectId);
  const waiting: Promise<Heard>[] = [];
  const violations: string[] = [];
  try {
    for (let count = 1; count <= stops; count += 1) {
      const copy = copies[count % copies.length] ?? first;
      const { api } = copy;
      // A client waits for an event that does not come; the stop does not wait for it.
      const params = { executionId, afterSeq: 1_000, waitSeconds };
      waiting.push(callers.call(api.url, owner, 'deliveryExecutions.eventsSince', params));
      await traffic.untilAnswered(clients);
      await stop(api);
      const exit = await api.exited;
      if (exit.code !== 0) violations.push(`a copy ended with ${describeExit(exit)}`);
      copy.api = await start();
      copy.isReady = true;
      note(`${count} of ${stops} stopped and started anew`);
    }
  } finally {
    await traffic.stop();
  }
  const all = [...traffic.heard, ...(await Promise.all(waiting))];
  violations.push(...failedAmong(all, isTimed));
  return {
    violations,
    figures: {
      clients,
      calls: all.length,
      stops,
      'connections closed by an answer': all.filter(({ closes }) => closes).length,
    },
  };
}

/** Clients that call one after the other, behind a balancer that sends each call to a copy that is ready. */
interface Traffic {
  /** Every answer so far. */
  readonly heard: readonly Heard[];
  /** Returns when so many more calls were answered. */
  readonly untilAnswered: (calls: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

function startTraffic(
  callers: Callers,
  copies: readonly Copy[],
  tokens: readonly string[],
  projectId: string,
): Traffic {
  const heard: Heard[] = [];
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      await Promise.all(
        copies.map(async (copy) => {
          const { api } = copy;
          const { status } = await callers.get(api.url, '/readyz');
          if (copy.api === api) copy.isReady = status === 200;
        }),
      );
      await pause(lookMillis);
    }
  };
  const work = async (token: string, index: number): Promise<void> => {
    for (let turn = index; !isOver; turn += 1) {
      const ready = copies.filter(({ isReady }) => isReady);
      const copy = ready[turn % ready.length];
      if (copy === undefined) {
        await pause(lookMillis);
        continue;
      }
      const [operation, params] =
        turn % 3 === 0
          ? ['stories.create', { projectId, title: `Story ${turn}` }]
          : ['stories.list', { projectId, limit: 20 }];
      heard.push(await callers.call(copy.api.url, token, operation, params));
    }
  };
  const running = Promise.all([look(), ...tokens.map(work)]);
  // Its failure is met where it is waited for.
  running.catch(() => undefined);
  return {
    heard,
    untilAnswered: async (calls) => {
      const before = heard.length;
      while (heard.length < before + calls) await pause(lookMillis);
    },
    stop: async () => {
      isOver = true;
      await running;
    },
  };
}

/** A violation where any call failed; unless the machine is quiet, a pool that is opened anew may be late. */
function failedAmong(all: readonly Heard[], isTimed: boolean): string[] {
  const isLate = (one: Heard): boolean => asksToComeAgain(one) && reasonOf(one) === 'database';
  const failed = all.filter((one) => one.status !== 200 && (isTimed || !isLate(one)));
  const [one] = failed;
  return one === undefined ? [] : [`${failed.length} of ${all.length} calls failed, such as ${inWords(one)}`];
}

async function makeWork(
  callers: Callers,
  url: string,
  token: string,
): Promise<{ projectId: string; executionId: string }> {
  const make = async (operation: string, what: string, params: object): Promise<string> => {
    return idIn(await callers.call(url, token, operation, params), what);
  };
  const projectId = await make('projects.create', 'project', { key: 'PRV', name: 'What is proven' });
  const targetId = await make('stories.create', 'story', { projectId, title: 'A story', status: 'ready' });
  const executionId = await make('deliveryExecutions.acquire', 'execution', {
    ...{ targetType: 'story', targetId, runId: 'run', ttlSeconds: 900 },
  });
  return { projectId, executionId };
}

/** It ends at once, whatever it is at. */
const noDrain: readonly Alteration[] = [without('calls are let finish', 'process.exit(0);')];
/** The balancer hears nothing of it. */
const noNotice: readonly Alteration[] = [without('the balancer is told')];

export const rollingStop: Property = {
  name: 'rolling stop',
  promise:
    'While copies of the API are stopped and started again one after the other no call fails, and each copy ends by itself.',
  run: (setting) => run(setting, extents[setting.scale]),
  controls: [
    {
      name: 'copies are killed',
      leftTo: 'nx long',
      run: (setting) => run(setting, { ...extents.short, noticeMillis: 0 }, { stop: killed }),
    },
    {
      name: 'a copy still says that it is ready',
      leftTo: 'the long form',
      run: (setting) => run(setting, extents.short, { alterations: noNotice }),
    },
    {
      name: 'a copy ends without finishing its calls',
      leftTo: 'the long form',
      run: (setting) => run(setting, { ...extents.short, noticeMillis: 0 }, { alterations: noDrain }),
    },
  ],
};
