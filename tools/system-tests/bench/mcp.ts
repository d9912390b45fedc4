/**
 * Compares a call and a list through the gateway with three alternatives: the operation called directly, a
 * proxy that forwards it, and an SDK server that is created for each request with every tool registered.
 * Processor time is that of the called process. In the first row, the alternative's processor time is that of
 * the API for a direct call.
 */
import { type BenchOrg, makeOrg } from './data.ts';
import { type LoadRequest } from './load-request.ts';
import { type Effort, inTurns, measure, type Side } from './measure.ts';
import { type Summary, summarize } from './report.ts';
import { type Services } from './services.ts';

const connections = 16;

interface RequestTarget {
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

export async function measureMcp(services: Services, effort: Effort): Promise<Summary[]> {
  effort.say('Starting PostgreSQL (fsync on), coordination-api, and mcp-gateway');
  const { api, owner, bench } = await services.installation();
  const gateway = await services.app('mcp-gateway', await services.bundle('mcp-gateway'), {
    COORDINATION_API_URL: api.url,
    // The benchmark's single token requests more lists than the default limit allows.
    LIMIT_LISTS: '1000000/0.001',
  });
  const asked = requestsOf(await makeOrg(owner, api.url, 'bench-mcp', 1));
  const bare = await services.bareServer('bare-mcp.ts', { API_URL: api.url });
  const ours = (requests: readonly LoadRequest[]): RequestTarget => ({ url: gateway.url, requests });
  const courses: readonly (readonly [name: string, ours: RequestTarget, theirs: RequestTarget])[] = [
    ['tools/call / the operation itself', ours(asked.call), { url: api.url, requests: asked.direct }],
    ['tools/call / plain forward', ours(asked.call), { url: bare, requests: asked.direct }],
    ['tools/call / McpServer a request', ours(asked.call), { url: bare, requests: asked.call }],
    ['tools/list / McpServer a request', ours(asked.list), { url: bare, requests: asked.list }],
    ['tools/list, core / McpServer', ours(asked.core), { url: bare, requests: asked.list }],
  ];
  const side =
    ({ url, requests }: RequestTarget, what: string): Side =>
    (time) =>
      measure(
        bench,
        what,
        url,
        Array.from({ length: connections }, () => requests),
        time,
      );
  const samples = await inTurns(
    courses.map(([name, own, other]) => [side(own, name), side(other, `beside it, ${name}`)]),
    effort,
  );
  return courses.map(([name], index) => {
    const [mine = [], others = []] = samples[index] ?? [];
    return summarize({ name, goal: null, ours: mine, theirs: others, roundTrips: null });
  });
}

/**
 * Calls per core through the gateway, divided by direct calls per core. The decision page on performance sets
 * a goal for this ratio.
 */
export function formatCallsPerCore(summaries: readonly Summary[]): string {
  const [first] = summaries;
  if (first === undefined) return '';
  const { ours, theirs } = first;
  const ratio = theirs.serverMicros / ours.serverMicros;
  return `Calls that one core of the gateway passes on, for each that one core of the API answers: ${ratio.toFixed(2)} (goal ≥ 0.50).`;
}
