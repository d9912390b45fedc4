/**
 * Members read and write while Postgres and Redis are killed, hang and come back. Clients do not retry, so
 * that each answer counts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { findBreakables } from '../breakable.ts';
import {
  type ApiSite,
  asksToRetry,
  type Invoke,
  type CallReply,
  idIn,
  isServed,
  millisOf,
  oddAmong,
  openApi,
} from '../callers.ts';
import { type GuardRemoval, without } from '../guards.ts';
import { during } from '../havoc.ts';
import { property, type Findings, type RunSetup } from '../property.ts';
import { comesToBe } from '../site.ts';

interface Extent {
  readonly postgresKills: number;
  /** The outages of Redis: the kind and the duration of each. */
  readonly outages: readonly { readonly how: 'killed' | 'hung'; readonly millis: number }[];
  /** Is true if the run checks durations, which needs a machine without other load. */
  readonly isTimed: boolean;
}

const short: Extent = {
  postgresKills: 1,
  outages: [
    { how: 'killed', millis: 500 },
    { how: 'hung', millis: 500 },
  ],
  isTimed: false,
};
const long: Extent = {
  postgresKills: 10,
  outages: [2_000, 9_000, 30_000].flatMap((millis) => [
    { how: 'killed', millis },
    { how: 'hung', millis },
  ]),
  isTimed: true,
};

const callersAtOnce = 8;
/** The time within which the API must be ready after Postgres is back. */
const mostReadyMillis = 3_000;
const patienceMillis = 60_000;
/**
 * The limit of a write at the 99th percentile during an outage of Redis. It covers the time until Redis
 * counts as unavailable, and the write itself.
 */
const mostWriteMillis = 500;
/**
 * The burst is so low that each call must ask Redis, and the rate is so high that no call is refused. Each
 * member has a separate token.
 */
const limits = { LIMIT_TOKEN: '100/0.001' };

interface Course extends ApiSite {
  readonly setting: RunSetup;
  readonly extent: Extent;
  readonly violations: string[];
  /** Makes the next call, a read or a write, with the tokens of all members in turn. */
  readonly call: () => Promise<CallReply>;
  readonly write: () => Promise<CallReply>;
}

async function begin(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Course> {
  const { services } = setting;
  const breakables = await findBreakables(services);
  const site = await openApi(services, {
    ...{ people: callersAtOnce, removals, database: await breakables.database(services) },
    environment: { REDIS_URL: breakables.redis.url, ...limits },
  });
  const { people, as } = site;
  let calls = 0;
  const next: Invoke = (operation, params) => {
    calls += 1;
    return as(people[calls % people.length]?.token ?? '')(operation, params);
  };
  const projectId = idIn(await next('projects.create', { key: 'PRV', name: 'What is proven' }), 'project');
  const write = (): Promise<CallReply> => next('stories.create', { projectId, title: `Story ${calls}` });
  return {
    ...{ ...site, setting, extent, write, violations: [] },
    call: () => (calls % 2 === 0 ? write() : next('stories.list', { projectId, limit: 5 })),
  };
}

/** Makes concurrent calls while `act` runs, and returns their answers. */
async function repliesDuring(call: () => Promise<CallReply>, act: () => Promise<void>): Promise<CallReply[]> {
  const heard: CallReply[] = [];
  const work = async (): Promise<void> => {
    const one = await call();
    heard.push(one);
    // A caller that was asked to retry waits for a moment first.
    if (!isServed(one)) await pause(20);
  };
  await during(
    Array.from({ length: callersAtOnce }, () => work),
    act,
  );
  return heard;
}

async function killPostgres({ setting, extent, callers, api, violations, call }: Course) {
  const { postgres } = await findBreakables(setting.services);
  const isReady = async (): Promise<boolean> => isServed(await callers.get(api.url, '/readyz'));
  let kills = 0;
  let latest = 0;
  const heard = await repliesDuring(call, async () => {
    for (; kills < extent.postgresKills; kills += 1) {
      await postgres.kill();
      if (!(await comesToBe(async () => !(await isReady()), patienceMillis)))
        violations.push('it says that it is ready though Postgres is away');
      await postgres.startAgain();
      const back = performance.now();
      if (!api.isAlive()) return;
      if (!(await comesToBe(isReady, patienceMillis))) violations.push('it is not ready again');
      latest = Math.max(latest, performance.now() - back);
    }
  });
  if (!api.isAlive()) violations.push('the process has ended');
  if (extent.isTimed && latest > mostReadyMillis)
    violations.push(`it was ready ${Math.round(latest)} ms after Postgres was`);
  violations.push(...oddAmong(heard, 'calls', (one) => isServed(one) || asksToRetry(one)));
  return { kills, calls: heard.length, away: heard.filter(asksToRetry).length, latest };
}

async function takeRedisAway({ setting, extent, api, violations, write }: Course) {
  const { redis } = await findBreakables(setting.services);
  let writes = 0;
  let slowest = 0;
  for (const { how, millis } of extent.outages) {
    const heard = await repliesDuring(write, async () => {
      if (how === 'killed') await redis.kill();
      else process.kill(redis.process.pid, 'SIGSTOP');
      try {
        await pause(millis);
      } finally {
        if (how === 'hung') process.kill(redis.process.pid, 'SIGCONT');
        await redis.startAgain();
      }
    });
    writes += heard.length;
    const p99 = millisOf(heard, 0.99);
    slowest = Math.max(slowest, p99);
    // On a busy machine Postgres may be slow too, so a refusal that asks to retry is acceptable there.
    const isFine = (one: CallReply): boolean => isServed(one) || (!extent.isTimed && asksToRetry(one));
    violations.push(...oddAmong(heard, `writes while Redis was ${how}`, isFine));
    if (heard.length === 0) violations.push(`Redis ${how}: nothing was written meanwhile`);
    if (extent.isTimed && p99 > mostWriteMillis)
      violations.push(`Redis ${how}: a write took ${Math.round(p99)} ms at p99`);
  }
  if (!api.isAlive()) violations.push('the process has ended');
  return { writes, slowest };
}

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const course = await begin(setting, extent, removals);
  const { kills, calls, away, latest } = await killPostgres(course);
  const { writes, slowest } = course.api.isAlive() ? await takeRedisAway(course) : { writes: 0, slowest: 0 };
  return {
    violations: course.violations,
    figures: {
      'Postgres kills': kills,
      calls,
      'asked to come again': away,
      'ms until ready at most': Math.round(latest),
      'outages of Redis': extent.outages.length,
      'writes meanwhile': writes,
      'ms for one at p99': Math.round(slowest),
    },
  };
}

/**
 * The number of kills in the control. The control needs one kill that hits a call in progress; that kill ends
 * the process and the run.
 */
const patientKills = 30;

export const dependencies = property<Extent>({
  name: 'dependencies',
  promise:
    'While Postgres is away callers are asked to come again, and soon after it is back the same process answers; while Redis is away or hangs every write succeeds.',
  short,
  long,
  run,
  controls: [
    {
      name: 'errors of connections are not handled',
      leftTo: 'nx long',
      extent: { ...short, postgresKills: patientKills, outages: [] },
      without: [without('broken connections are heard')],
    },
    {
      name: 'a call that Redis does not count is refused',
      leftTo: 'nx long',
      extent: { ...short, postgresKills: 0 },
      without: [
        without(
          'limits without an answer of Redis',
          'const withoutAnswer = () => Promise.reject(new Error("Redis is away"));',
        ),
        without('limits while Redis is away'),
      ],
    },
  ],
});
