/**
 * What the gateway takes for a call and for a list: beside the operation called directly, beside a proxy that only
 * passes it on, and beside the usual way, a server of the SDK made for each request with every tool registered. The
 * processor time is that of the process which is asked; what the API takes behind it is the first row's other side.
 */
import { migrate } from '@muster/database';
import { type BenchOrg, makeOrg } from './data.ts';
import { type LoadRequest } from './load-process.ts';
import { type Bench, type Effort, measure, type Sample, warmUp } from './measure.ts';
import { type Summary, summarize } from './report.ts';
import { type Services } from './services.ts';

const connections = 16;

interface Side {
  readonly url: string;
  readonly requests: readonly LoadRequest[];
}

function requestsOf({ token, still }: BenchOrg) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const storyIds = still.storyIds.slice(0, 50);
  const rpc = (method: string, params: object, query = ''): LoadRequest => ({
    path: `/api/mcp${query}`,
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return {
    direct: storyIds.map((storyId) => ({
      path: '/api/stories/get',
      headers,
      body: JSON.stringify({ storyId }),
    })),
    call: storyIds.map((storyId) => rpc('tools/call', { name: 'stories_get', arguments: { storyId } })),
    list: [rpc('tools/list', {})],
    core: [rpc('tools/list', {}, '?mode=core')],
  };
}

const bareServer = (services: Services, apiUrl: string): Promise<string> =>
  services.bareServer('bare-mcp.ts', { API_URL: apiUrl });

export async function measureMcp(services: Services, { rounds, seconds, say }: Effort): Promise<Summary[]> {
  say('Starting PostgreSQL (fsync on), coordination-api, and mcp-gateway');
  const postgres = await services.postgres();
  await migrate(postgres.url);
  const api = await services.api(await services.bundle(), postgres.url);
  const gateway = await services.app('mcp-gateway', await services.bundle('mcp-gateway'), {
    COORDINATION_API_URL: api.url,
    // One token asks for more lists than anybody may.
    LIMIT_LISTS: '1000000/0.001',
  });
  const owner = services.owner(postgres.url);
  const asked = requestsOf(await makeOrg(owner, api.url, 'bench-mcp', 1));
  const bare = await bareServer(services, api.url);
  const load = services.load();
  const bench: Bench = { load, owner, postmaster: postgres.pid };
  const ours = (requests: readonly LoadRequest[]): Side => ({ url: gateway.url, requests });
  const courses: readonly { name: string; ours: Side; theirs: Side }[] = [
    {
      name: 'tools/call / the operation itself',
      ours: ours(asked.call),
      theirs: { url: api.url, requests: asked.direct },
    },
    {
      name: 'tools/call / plain forward',
      ours: ours(asked.call),
      theirs: { url: bare, requests: asked.direct },
    },
    {
      name: 'tools/call / McpServer a request',
      ours: ours(asked.call),
      theirs: { url: bare, requests: asked.call },
    },
    {
      name: 'tools/list / McpServer a request',
      ours: ours(asked.list),
      theirs: { url: bare, requests: asked.list },
    },
    {
      name: 'tools/list, core / McpServer',
      ours: ours(asked.core),
      theirs: { url: bare, requests: asked.list },
    },
  ];
  const run = ({ url, requests }: Side, what: string, time: number): Promise<Sample> =>
    measure(
      bench,
      what,
      url,
      Array.from({ length: connections }, () => requests),
      time,
    );
  const samples = courses.map((course) => ({
    course,
    ours: (time: number) => run(course.ours, course.name, time),
    theirs: (time: number) => run(course.theirs, `beside it, ${course.name}`, time),
    mine: [] as Sample[],
    others: [] as Sample[],
  }));
  for (const { ours, theirs } of samples) {
    await warmUp(ours, seconds);
    await warmUp(theirs, seconds);
  }
  say('Warmed up');
  for (let round = 1; round <= rounds; round += 1) {
    for (const { ours, theirs, mine, others } of samples) {
      mine.push(await ours(seconds));
      others.push(await theirs(seconds));
    }
    say(`Round ${round} of ${rounds}`);
  }
  return samples.map(({ course: { name }, mine, others }) =>
    summarize({ name, goal: null, ours: mine, theirs: others, roundTrips: null }),
  );
}

/** The goal of PERFORMANCE, by processor time: what a core does of calls through the gateway and of calls directly. */
export function perCore(summaries: readonly Summary[]): string {
  const [first] = summaries;
  if (first === undefined) return '';
  const { ours, theirs } = first;
  const ratio = theirs.serverMicros / ours.serverMicros;
  return `Calls that one core of the gateway passes on, for each that one core of the API answers: ${ratio.toFixed(2)} (goal ≥ 0.50).`;
}
