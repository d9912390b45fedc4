/** Thousands who wait for events of one execution, and are woken at once, while others work. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ApiSite,
  beginWork,
  type Heard,
  inWords,
  metricOf,
  millisOf,
  oddAmong,
  openApi,
  quantile,
  reasonOf,
  type Work,
} from '../callers.ts';
import { type Removal, without } from '../guards.ts';
import { foundOrganization } from '../organization.ts';
import { property, type Report, type Setting } from '../property.ts';
import { comesToBe } from '../site.ts';

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
    millisOf(heard.slice(round * size, (round + 1) * size), 0.99),
  );
  return quantile(ofRounds, 0.5);
}

/** An execution whose events are waited for, with its holder's token and those of the waiters. */
interface Stream extends Work {
  readonly token: string;
  readonly tokens: readonly string[];
}

/** An organization of its own, an execution in it, and so many tokens. */
async function beginStream({ database, as }: ApiSite, count: number): Promise<Stream> {
  // A member waits at most half as often as an organization.
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
 * Waits until the event is there: again where the time is over, where no place was free to begin in (there are few, and many
 * who begin), where `waitOnceMore` has the place, and where the connection was lost.
 */
async function waitForEvent({ as }: ApiSite, token: string, executionId: string): Promise<Heard> {
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

/** Has each token wait as often as it may; answers what each call will hear. */
async function beginWaiting(ground: ApiSite, streams: readonly Stream[]): Promise<Promise<Heard>[]> {
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
const levelOf = ({ api }: ApiSite): Promise<number> => metricOf(api, 'muster_requests_waiting');

/** Tries to have a token wait that waits as often as it may already; a violation where it is not refused. */
async function waitOnceMore({ as }: ApiSite, [stream]: readonly Stream[]): Promise<string[]> {
  const params = { executionId: stream?.executionId, afterSeq: 1, waitSeconds: 1 };
  const ninths: Heard[] = [];
  const isRefused = await comesToBe(async () => {
    const ninth = await as(stream?.tokens[0] ?? '')('deliveryExecutions.eventsSince', params);
    ninths.push(ninth);
    return ninth.status === 429;
  }, mostNinthMillis);
  return isRefused ? [] : [`a token waits once more: ${ninths.slice(-1).map(inWords).join()}`];
}

/** Writes the event that all wait for. */
async function wakeAll({ as }: ApiSite, streams: readonly Stream[]): Promise<void> {
  for (const { token, executionId, leaseToken } of streams)
    await as(token)('deliveryExecutions.checkpoint', { executionId, leaseToken, summary: 'Here' });
}

async function run(
  { services, note }: Setting,
  { connections, organizations, tokens, calls, isTimed }: Extent,
  removals: readonly Removal[],
): Promise<Report> {
  const environment = { DATABASE_POOL: connections.toString() };
  const ground = await openApi(services, { people: 1, removals, environment });
  const ask = (): Promise<Heard> => ground.as(ground.people[0].token)('session.identity', {});
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
  violations.push(...(await waitOnceMore(ground, streams)));
  const meanwhile = await others();
  const waking = others();
  await wakeAll(ground, streams);
  const woken = await Promise.all(waiting);
  const during = await waking;

  violations.push(...oddAmong([...meanwhile, ...during], 'calls of others'));
  violations.push(...oddAmong(woken, 'who waited'));
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
