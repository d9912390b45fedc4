/**
 * Thousands of callers wait for events of one execution and are all woken by one event, while others make
 * ordinary calls.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ApiSite,
  beginWork,
  type CallReply,
  inWords,
  metricOf,
  millisOf,
  oddAmong,
  openApi,
  quantile,
  reasonOf,
  type HeldJob,
} from '../callers.ts';
import { without } from '../guards.ts';
import { foundOrganization } from '../organization.ts';
import { property, type RunProperty } from '../property.ts';
import { comesToBe } from '../site.ts';

interface Extent {
  readonly connections: number;
  readonly organizations: number;
  readonly tokens: number;
  /** The number of ordinary calls in each phase: before, while all wait, and while they are woken. */
  readonly calls: number;
  readonly isTimed: boolean;
}

const short: Extent = { connections: 2, organizations: 2, tokens: 4, calls: 20, isTimed: false };
/**
 * In this extent, woken callers are certain to compete with other calls. There are many of them for few
 * request slots, and the other calls last longer.
 */
const crowded: Extent = { connections: 2, organizations: 2, tokens: 32, calls: 300, isTimed: false };
/** The extent of the long form, with as many waiters as one process allows. */
const long: Extent = { connections: 10, organizations: 5, tokens: 125, calls: 1_000, isTimed: true };

const perToken = 8;
const waitSeconds = 25;
/**
 * The time within which a token's ninth wait must be refused. One of the token's eight waiters may be
 * reconnecting at that moment.
 */
const maxRefusalMillis = 5_000;
const maxWaitMillis = 90_000;
const comeAgain = new Set(['overload', 'too_many_waiting']);
/**
 * The share of callers that must wait at the same time. The rest may be reconnecting, because a busy machine
 * takes longer to admit all of them than one wait lasts.
 */
const waitAtOnce = 0.98;
/**
 * The factor by which ordinary calls may become slower while others wait. Durations below `leastMillis` show
 * only the machine's noise.
 */
const mostTimes = 2;
const leastMillis = 5;

/**
 * The number of rounds. The median of their results counts, so that a few slow calls on a busy machine do not
 * matter.
 */
const rounds = 5;
function baselineP99(heard: readonly CallReply[]): number {
  const size = Math.ceil(heard.length / rounds);
  const ofRounds = Array.from({ length: rounds }, (_, round) =>
    millisOf(heard.slice(round * size, (round + 1) * size), 0.99),
  );
  return quantile(ofRounds, 0.5);
}

/** An execution with waiters, the token of its holder and the tokens of the waiters. */
interface Stream extends HeldJob {
  readonly token: string;
  readonly tokens: readonly string[];
}

/** Creates an organization with an execution and the given number of tokens. */
async function beginStream({ database, as }: ApiSite, count: number): Promise<Stream> {
  // The tokens belong to two members, because a member may have at most half as many waits as an
  // organization.
  const { people, enter } = await foundOrganization(database, 2);
  const [{ token }] = people;
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { email } = people[index % 2] ?? people[0];
    tokens.push((await enter(email, { scopes: ['read'] })).token);
  }
  return { ...(await beginWork(as(token))), token, tokens };
}

/**
 * Waits until the event has come. Retries if the wait ends without an event, is refused, or loses its
 * connection. Refusals are expected: there are few request slots for many new waiters, and `waitOnceMore` may
 * occupy one.
 */
async function waitForEvent({ as }: ApiSite, token: string, executionId: string): Promise<CallReply> {
  for (;;) {
    const params = { executionId, afterSeq: 1, waitSeconds };
    const heard = await as(token)('deliveryExecutions.eventsSince', params);
    const { items } = heard.body;
    const isEarly = heard.status === 200 && Array.isArray(items) && items.length === 0;
    const isToComeAgain = heard.status === 0 || comeAgain.has(reasonOf(heard) ?? '');
    if (!isEarly && !isToComeAgain) return heard;
    if (!isEarly) await pause(50);
  }
}

/** Starts the maximum number of waits for each token. Returns their future answers. */
async function beginWaiting(ground: ApiSite, streams: readonly Stream[]): Promise<Promise<CallReply>[]> {
  const waiting: Promise<CallReply>[] = [];
  for (const { tokens, executionId } of streams)
    for (const token of tokens)
      for (let count = 0; count < perToken; count += 1) {
        waiting.push(waitForEvent(ground, token, executionId));
        if (waiting.length % 5 === 0) await pause(2);
      }
  return waiting;
}

/** Reads the number of waiting requests from the API's metrics. */
const levelOf = ({ api }: ApiSite): Promise<number> => metricOf(api, 'muster_requests_waiting');

/** Starts one more wait than a token may have. Returns a violation if this wait is not refused. */
async function waitOnceMore({ as }: ApiSite, [stream]: readonly Stream[]): Promise<string[]> {
  const params = { executionId: stream?.executionId, afterSeq: 1, waitSeconds: 1 };
  const ninths: CallReply[] = [];
  const isRefused = await comesToBe(async () => {
    const ninth = await as(stream?.tokens[0] ?? '')('deliveryExecutions.eventsSince', params);
    ninths.push(ninth);
    return ninth.status === 429;
  }, maxRefusalMillis);
  return isRefused ? [] : [`a token waits once more: ${ninths.slice(-1).map(inWords).join()}`];
}

/** Writes the event that all callers wait for. */
async function wakeAll({ as }: ApiSite, streams: readonly Stream[]): Promise<void> {
  for (const { token, executionId, leaseToken } of streams)
    await as(token)('deliveryExecutions.checkpoint', { executionId, leaseToken, summary: 'Here' });
}

const run: RunProperty<Extent> = async (
  { services, note },
  { connections, organizations, tokens, calls, isTimed },
  removals,
) => {
  const environment = { DATABASE_POOL: connections.toString() };
  const ground = await openApi(services, { people: 1, removals, environment });
  const ask = (): Promise<CallReply> => ground.as(ground.people[0].token)('session.identity', {});
  const others = async (): Promise<CallReply[]> => {
    const heard: CallReply[] = [];
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
  if (!(await comesToBe(doAllWait, maxWaitMillis)))
    violations.push(`${await levelOf(ground)} of ${waiting.length} wait`);
  note(`${await levelOf(ground)} wait`);
  violations.push(...(await waitOnceMore(ground, streams)));
  const meanwhile = await others();
  const waking = others();
  await wakeAll(ground, streams);
  const woken = await Promise.all(waiting);
  const during = await waking;

  violations.push(...oddAmong([...meanwhile, ...during], 'calls of others'));
  violations.push(...oddAmong(woken, 'who waited'));
  const idleAgain = await others();
  const before = Math.max(baselineP99(idle), baselineP99(idleAgain));
  const after = baselineP99(meanwhile);
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
        'ms at p99 while they are woken': Math.round(baselineP99(during)),
      }),
    },
  };
};

export const waiting = property<Extent>({
  name: 'waiting',
  promise:
    'However many callers wait for events, and however many of them one event wakes: no other caller is refused, or waits more than twice as long at p99, and a token waits eight times at once.',
  short,
  long,
  run,
  controls: [
    {
      name: 'woken callers come back at once',
      leftTo: 'nx long',
      extent: crowded,
      without: [
        without('few come back at once'),
        without('who comes back waits for a place', 'true'),
        without('who came back takes no place', 'const taken = this.#taken;'),
      ],
    },
    {
      name: 'a token waits any number of times',
      leftTo: 'nx long',
      extent: { ...short, organizations: 1, tokens: 1 },
      without: [without('calls that one token lets wait', 'each: 1e6,')],
    },
  ],
});
