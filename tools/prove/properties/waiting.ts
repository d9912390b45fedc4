/** Thousands who wait for events of one execution, and are woken at once, while others work. */
import { createToken } from '@muster/organizations';
import { setTimeout as pause } from 'node:timers/promises';
import { startThrowAwayApi, type ThrowAwayApi } from '../../dev/throw-away-api.ts';
import { type Alteration, findBundle } from '../bundles.ts';
import { type Callers, type Heard, idIn, inWords, openCallers, quantile, reasonOf } from '../callers.ts';
import { type Property, type Report, type Setting } from '../property.ts';
import { type Database, type Scope } from '../services.ts';
import { comesToBe, foundOrganization } from '../site.ts';
import { without } from '../guards.ts';

interface Extent {
  readonly connections: number;
  readonly organizations: number;
  readonly tokens: number;
  /** Calls of others, before, while all wait, and while they are woken. */
  readonly calls: number;
  readonly isTimed: boolean;
}

const short: Extent = { connections: 2, organizations: 2, tokens: 4, calls: 20, isTimed: false };
/** Where those who are woken meet others for sure: many for few places, while others ask for longer. */
const crowded: Extent = { connections: 2, organizations: 2, tokens: 32, calls: 300, isTimed: false };
/** As many as a process lets wait. */
const long: Extent = { connections: 10, organizations: 5, tokens: 125, calls: 1_000, isTimed: true };

const perToken = 8;
const waitSeconds = 25;
/** One of the eight may just be coming back. */
const mostNinthMillis = 5_000;
const mostWaitingMillis = 90_000;
const comeAgain = new Set(['overload', 'too_many_waiting']);
/** The others are just coming back: a busy machine takes longer to let them all in than one of them waits. */
const waitAtOnce = 0.98;
/** Others may take so many times as long as with no waiters. Below this it is the machine that is measured. */
const mostTimes = 2;
const leastMillis = 5;

/** The median of rounds: what a busy machine does to a few calls in a row decides nothing. */
const rounds = 5;
function usualP99(heard: readonly Heard[]): number {
  const size = Math.ceil(heard.length / rounds);
  const ofRounds = Array.from({ length: rounds }, (_, round) =>
    quantile(
      heard.slice(round * size, (round + 1) * size).map(({ millis }) => millis),
      0.99,
    ),
  );
  return quantile(ofRounds, 0.5);
}

interface Ground {
  readonly database: Database;
  readonly api: ThrowAwayApi;
  readonly callers: Callers;
}

async function layGround(
  services: Scope,
  connections: number,
  alterations: readonly Alteration[],
): Promise<Ground> {
  const database = await services.database();
  const api = await startThrowAwayApi({
    ...{ main: await findBundle(services, 'coordination-api', alterations), log: 'warn' },
    databaseUrl: database.url,
    environment: { DATABASE_POOL: connections.toString() },
  });
  services.onStop(() => api.stop());
  return { database, api, callers: openCallers(services) };
}

/** An execution whose events are waited for, with its holder's token and those of the waiters. */
interface Stream {
  readonly token: string;
  readonly executionId: string;
  readonly leaseToken: unknown;
  readonly tokens: readonly string[];
}

/** An organization of its own, an execution in it, and so many tokens. */
async function beginStream({ database, api, callers }: Ground, count: number): Promise<Stream> {
  const { people, orgId } = await foundOrganization(database, 1);
  const token = people[0]?.token ?? '';
  const call = (operation: string, params: object) => callers.call(api.url, token, operation, params);
  const project = idIn(await call('projects.create', { key: 'PRV', name: 'What is proven' }), 'project');
  const story = idIn(
    await call('stories.create', { projectId: project, title: 'A story', status: 'ready' }),
    'story',
  );
  const acquired = await call('deliveryExecutions.acquire', {
    ...{ targetType: 'story', targetId: story, ttlSeconds: 900 },
  });
  const { rows } = await database.owner.query<{ slug: string }>('select slug from orgs where id = $1', [
    orgId,
  ]);
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const made = await createToken(database.owner, {
      ...{ org: rows[0]?.slug ?? '', member: 'p0@prove.example', name: `waiter ${index}` },
      scopes: ['read'],
    });
    tokens.push(made.token);
  }
  return {
    ...{ token, tokens, executionId: idIn(acquired, 'execution') },
    leaseToken: acquired.body['leaseToken'],
  };
}

/**
 * Waits until the event is there: again where the time is over, where no place was free to begin in (there are few, and many
 * who begin), where `waitOnceMore` has the place, and where the connection was lost.
 */
async function waitForEvent({ api, callers }: Ground, token: string, executionId: string): Promise<Heard> {
  for (;;) {
    const heard = await callers.call(api.url, token, 'deliveryExecutions.eventsSince', {
      ...{ executionId, afterSeq: 1, waitSeconds },
    });
    const { items } = heard.body;
    const isEarly = heard.status === 200 && Array.isArray(items) && items.length === 0;
    const isToComeAgain = heard.status === 0 || comeAgain.has(reasonOf(heard) ?? '');
    if (!isEarly && !isToComeAgain) return heard;
    if (!isEarly) await pause(50);
  }
}

/** Has each token wait as often as it may; answers what each call will hear. */
async function beginWaiting(ground: Ground, streams: readonly Stream[]): Promise<Promise<Heard>[]> {
  const waiting: Promise<Heard>[] = [];
  for (const { tokens, executionId } of streams)
    for (const token of tokens)
      for (let count = 0; count < perToken; count += 1) {
        waiting.push(waitForEvent(ground, token, executionId));
        if (waiting.length % 5 === 0) await pause(2);
      }
  return waiting;
}

/** How many wait now. */
async function levelOf({ api }: Ground): Promise<number> {
  const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
  return Number(/^muster_requests_waiting\{[^}]*\} (\d+)$/m.exec(text)?.[1]);
}

/** Tries to have a token wait that waits as often as it may already; a violation where it is not refused. */
async function waitOnceMore({ api, callers }: Ground, stream: Stream | undefined): Promise<string[]> {
  const ninths: Heard[] = [];
  const isRefused = await comesToBe(async () => {
    const ninth = await callers.call(api.url, stream?.tokens[0] ?? '', 'deliveryExecutions.eventsSince', {
      ...{ executionId: stream?.executionId, afterSeq: 1, waitSeconds: 1 },
    });
    ninths.push(ninth);
    return ninth.status === 429;
  }, mostNinthMillis);
  return isRefused ? [] : [`a token waits once more: ${ninths.slice(-1).map(inWords).join()}`];
}

/** Writes the event that all wait for. */
async function wakeAll({ api, callers }: Ground, streams: readonly Stream[]): Promise<void> {
  for (const { token, executionId, leaseToken } of streams)
    await callers.call(api.url, token, 'deliveryExecutions.checkpoint', {
      ...{ executionId, leaseToken, summary: 'Here' },
    });
}

/** A violation where any was not answered with 200. */
function refusedAmong(heard: readonly Heard[], who: string): string[] {
  const refused = heard.filter(({ status }) => status !== 200);
  return refused[0] === undefined ? [] : [`${refused.length} ${who} got such as ${inWords(refused[0])}`];
}

async function run(
  { services, note }: Setting,
  { connections, organizations, tokens, calls, isTimed }: Extent,
  alterations: readonly Alteration[] = [],
): Promise<Report> {
  const ground = await layGround(services, connections, alterations);
  const { people: outsiders } = await foundOrganization(ground.database, 1);
  const outsider = outsiders[0]?.token ?? '';
  const ask = (): Promise<Heard> => ground.callers.call(ground.api.url, outsider, 'session.identity', {});
  const others = async (): Promise<Heard[]> => {
    const heard: Heard[] = [];
    while (heard.length < calls) heard.push(await ask());
    return heard;
  };
  const streams: Stream[] = [];
  for (let index = 0; index < organizations; index += 1) streams.push(await beginStream(ground, tokens));

  const violations: string[] = [];
  await ask();
  const idle = await others();
  const waiting = await beginWaiting(ground, streams);
  const doAllWait = async () => (await levelOf(ground)) >= waitAtOnce * waiting.length;
  if (!(await comesToBe(doAllWait, mostWaitingMillis)))
    violations.push(`${await levelOf(ground)} of ${waiting.length} wait`);
  note(`${await levelOf(ground)} wait`);
  violations.push(...(await waitOnceMore(ground, streams[0])));
  const meanwhile = await others();
  const waking = others();
  await wakeAll(ground, streams);
  const woken = await Promise.all(waiting);
  const during = await waking;

  violations.push(...refusedAmong([...meanwhile, ...during], 'calls of others'));
  violations.push(...refusedAmong(woken, 'who waited'));
  const idleAgain = await others();
  const before = Math.max(usualP99(idle), usualP99(idleAgain));
  const after = usualP99(meanwhile);
  if (isTimed && after > mostTimes * Math.max(before, leastMillis))
    violations.push(`others take ${after.toFixed(1)} ms at p99, and ${before.toFixed(1)} with no waiters`);
  return {
    violations,
    figures: {
      waiters: waiting.length,
      'calls of others': idle.length + meanwhile.length + during.length + idleAgain.length,
      ...(isTimed && {
        'ms at p99 with no waiters': Math.round(before),
        'ms at p99 while they wait': Math.round(after),
        'ms at p99 while they are woken': Math.round(usualP99(during)),
      }),
    },
  };
}

const allAtOnce: readonly Alteration[] = [
  without('few come back at once'),
  without('who comes back waits for a place', 'true'),
  without('who came back takes no place', 'const taken = this.#taken;'),
];
const noShare: readonly Alteration[] = [without('calls that one token lets wait', 'each: 1e6,')];

export const waiting: Property = {
  name: 'waiting',
  promise:
    'However many callers wait for events, and however many of them one event wakes: no other caller is refused, or waits more than twice as long at p99, and a token waits eight times at once.',
  run: (setting) => run(setting, setting.scale === 'short' ? short : long),
  controls: [
    {
      name: 'woken callers come back at once',
      leftTo: 'nx long',
      run: (setting) => run(setting, crowded, allAtOnce),
    },
    {
      name: 'a token waits any number of times',
      leftTo: 'nx long',
      run: (setting) => run(setting, { ...short, organizations: 1, tokens: 1 }, noShare),
    },
  ],
};
