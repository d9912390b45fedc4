/**
 * Measures the stream of events: the delay of an event after its write was answered, the events per second
 * that a process sends, and the cost of idle streams.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { addMember, createToken } from '@muster/organizations';
import { Agent, type Dispatcher, request } from 'undici';
import { foundOrg } from './data.ts';
import { backlog, writeTimes, writeBacklog, writes } from './events.ts';
import { readServerUse } from './processor-time.ts';
import { type Effort } from './measure.ts';
import { type Quantiles, quantiles, whole } from './report.ts';
import { type Services } from './services.ts';

/** The largest numbers of open event streams that the API allows for a member and for an organization. */
const streamsOfMember = 4;
const streamsOfOrganization = 1_000;
/** The limit of streams for one process. */
const idleStreams = 5_000;
/** The number of streams opened concurrently, which is below the API's limit of concurrent calls. */
const concurrentOpens = 40;
/**
 * A pause that is longer than the interval at which an idle stream sends its ID. After the pause each stream
 * has sent its ID.
 */
const idleMillis = 20_000;

const readersOfWrites = 20;

const readersOfBacklog = [1, 20];

export interface StreamsSummary {
  /** The time from the answer of a write to its event, at each of the readers. */
  readonly lateMillis: Quantiles;
  readonly throughput: readonly { readonly readers: number; readonly eventsPerSecond: number }[];
  readonly idle: {
    readonly streams: number;
    readonly bytesEach: number;
    /** The percentage of one core that idle streams use. */
    readonly processorPercent: number;
  };
}

interface BenchMembers {
  readonly orgId: string;
  readonly tokens: readonly string[];
}

export async function measureStreams(services: Services, { say }: Effort): Promise<StreamsSummary> {
  say('Starting PostgreSQL (fsync on), building and starting coordination-api');
  const { api, owner } = await services.installation();
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: 60_000 });
  services.onStop(() => agent.destroy());
  const open = async (token: string, query: string): Promise<Dispatcher.ResponseData> => {
    for (;;) {
      const answer = await request(`${api.url}/api/events/stream${query}`, {
        headers: { authorization: `Bearer ${token}` },
        dispatcher: agent,
      });
      if (answer.statusCode === 200) return answer;
      const text = await answer.body.text();
      if (answer.statusCode !== 503) throw new Error(`a stream was answered ${answer.statusCode}: ${text}`);
      await pause(50);
    }
  };

  say('Making organizations');
  const members = streamsOfOrganization / streamsOfMember;
  const orgs: BenchMembers[] = [];
  for (let made = 0; made < idleStreams / streamsOfOrganization; made += 1)
    orgs.push(await makeOrganization(owner, `streams-${made}`, members));
  const [first] = orgs;
  if (first === undefined) throw new Error('there is no organization');

  say(`${writes} writes before ${readersOfWrites} readers`);
  const lateMillis = await measureLateness(api.url, open, first);
  const throughput: { readers: number; eventsPerSecond: number }[] = [];
  const { cursor } = await clientOf(api.url, first).events.list({ after: 'latest' });
  await writeBacklog(owner, first.orgId);
  for (const readers of readersOfBacklog) {
    say(`${whole(backlog)} events to ${readers} at once`);
    throughput.push({ readers, eventsPerSecond: await measureBacklog(open, first, cursor, readers) });
  }
  say(`${whole(idleStreams)} streams on which nothing happens`);
  return { lateMillis, throughput, idle: await measureIdle(api.url, open, orgs) };
}

type Open = (token: string, query: string) => Promise<Dispatcher.ResponseData>;

const clientOf = (baseUrl: string, { tokens }: BenchMembers) =>
  createClient(httpTransport({ baseUrl, token: tokens[0] ?? '' }));

/** Creates an organization with `count` members, the first of whom is its owner. */
async function makeOrganization(owner: Pool, slug: string, count: number): Promise<BenchMembers> {
  const { orgId, token } = await foundOrg(owner, slug);
  const tokens = [token];
  for (let index = 1; index < count; index += 1) {
    const email = `p${index}@bench.example`;
    await addMember(owner, { org: slug, email, name: `Person ${index}`, role: 'member' });
    const made = await createToken(owner, { org: slug, member: email, name: 'bench', scopes: ['admin'] });
    tokens.push(made.token);
  }
  return { orgId, tokens };
}

/** Calls `heard` for each complete event with an ID and data and without an event name. */
async function readEvents(
  { body }: Dispatcher.ResponseData,
  heard: (text: string) => boolean,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece as Buffer, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    for (const block of whole) if (/^id: .*\ndata: /.test(block) && !heard(block)) return;
  }
}

async function measureLateness(url: string, open: Open, org: BenchMembers) {
  const client = clientOf(url, org);
  await client.projects.create({ key: 'WEB', name: 'Website' });
  const came: { readonly title: string; readonly at: number }[] = [];
  const readers = await Promise.all(
    org.tokens.slice(0, readersOfWrites).map((token) => open(token, '?personal=false&kinds=story.created')),
  );
  const reading = readers.map((reader) => {
    let count = 0;
    return readEvents(reader, (block) => {
      came.push({ title: /"title":"(Story \d+)"/.exec(block)?.[1] ?? '', at: performance.now() });
      return (count += 1) < writes;
    });
  });
  const answered = await writeTimes(client);
  await Promise.all(reading);
  // An event may arrive before the answer of the call that created it.
  return quantiles(came.map(({ title, at }) => Math.max(0, at - (answered.get(title) ?? NaN))));
}

/** Returns the events per second over all readers. */
async function measureBacklog(open: Open, org: BenchMembers, cursor: string, readers: number) {
  const began = performance.now();
  await Promise.all(
    org.tokens.slice(0, readers).map(async (token) => {
      let count = 0;
      const answer = await open(token, `?personal=false&after=${cursor}`);
      await readEvents(answer, () => (count += 1) < backlog);
      answer.body.on('error', () => undefined).destroy();
    }),
  );
  return (readers * backlog) / ((performance.now() - began) / 1_000);
}

async function measureIdle(url: string, open: Open, orgs: readonly BenchMembers[]) {
  const tokens = orgs.flatMap((org) =>
    org.tokens.flatMap((token) => Array.from({ length: streamsOfMember }, () => token)),
  );
  // The streams of earlier measurements have closed after this pause.
  await pause(1_000);
  const before = await readServerUse(url);
  for (let done = 0; done < tokens.length; done += concurrentOpens) {
    const answers = await Promise.all(
      tokens.slice(done, done + concurrentOpens).map((token) => open(token, '')),
    );
    for (const { body } of answers) body.on('error', () => undefined).resume();
  }
  await pause(idleMillis);
  const standing = await readServerUse(url);
  await pause(idleMillis);
  const after = await readServerUse(url);
  return {
    streams: tokens.length,
    bytesEach: (standing.residentBytes - before.residentBytes) / tokens.length,
    processorPercent: ((after.cpuSeconds - standing.cpuSeconds) / (idleMillis / 1_000)) * 100,
  };
}

export function renderStreams({ lateMillis: { p50, p99 }, throughput, idle }: StreamsSummary): string {
  const sent = throughput.map(
    ({ readers, eventsPerSecond }) =>
      `  ${whole(eventsPerSecond)} events/s to ${readers} ${readers === 1 ? 'reader' : 'readers together'}`,
  );
  return [
    `  an event comes ${whole(p50)} ms (p50), ${whole(p99)} ms (p99) after its write was answered`,
    ...sent,
    `  ${whole(idle.streams)} idle streams: ${whole(idle.bytesEach / 1024)} KiB each, ${whole(idle.processorPercent)} % of a core`,
  ].join('\n');
}
