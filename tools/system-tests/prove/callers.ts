/** Sends calls without retries and records each answer and its duration, or the missing answer. */
import { pathOf } from '@muster/contract';
import { Agent } from 'undici';
import { type ThrowAwayApp } from '@muster/tools';
import { startApp } from './bundles.ts';
import { type GuardRemoval } from './guards.ts';
import { foundOrganization, type TestOrg, type OrganizationSetUp } from './organization.ts';
import { type Database, type Scope } from './services.ts';

/** An answer. If none came, `status` is 0 and `text` holds the error. */
export interface CallReply {
  readonly status: number;
  readonly millis: number;
  readonly text: string;
  /** The parsed body; empty if it is no JSON object. */
  readonly body: Record<string, unknown>;
  /** The Retry-After header of a 503 or a 429. */
  readonly retryAfter: string | null;
  /** Is true if the server closes the connection after this answer. */
  readonly closes: boolean;
}

export type Invoke = (operation: string, params: object) => Promise<CallReply>;

export interface Callers {
  call(url: string, token: string, operation: string, params: object): Promise<CallReply>;
  get(url: string, path: string): Promise<CallReply>;
  /** Posts a body that is already serialized. */
  post(url: string, token: string, body: string): Promise<CallReply>;
  /** Makes the call through the MCP gateway. The answer is JSON-RPC. */
  tool(gatewayUrl: string, token: string, name: string, params: object): Promise<CallReply>;
}

/** The timeout of a call. Any answer that comes at all is faster. */
const patienceMillis = 60_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Opens a client with its own connections, one for each concurrent call. */
export function openCallers(scope: Scope): Callers {
  const agent = new Agent({ headersTimeout: patienceMillis, bodyTimeout: patienceMillis });
  scope.onStop(() => agent.destroy());
  const hear = async (
    url: string,
    method: 'GET' | 'POST',
    token?: string,
    body?: string,
  ): Promise<CallReply> => {
    const began = performance.now();
    const { origin, pathname, search } = new URL(url);
    try {
      const answer = await agent.request({
        ...{ origin, path: `${pathname}${search}`, method },
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body }),
      });
      const text = await answer.body.text();
      const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
      const { 'retry-after': retryAfter, connection } = answer.headers;
      return {
        status: answer.statusCode,
        millis: performance.now() - began,
        ...{ text, body: isRecord(parsed) ? parsed : {} },
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        closes: connection === 'close',
      };
    } catch (error) {
      return {
        ...{ status: 0, millis: performance.now() - began, retryAfter: null, closes: true },
        ...{ text: String(error), body: { message: String(error) } },
      };
    }
  };
  const post: Callers['post'] = (url, token, body) => hear(url, 'POST', token, body);
  return {
    post,
    call: (url, token, operation, params) =>
      post(`${url}${pathOf(operation)}`, token, JSON.stringify(params)),
    tool: (url, token, name, params) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: params } };
      return post(`${url}/api/mcp?view=full`, token, JSON.stringify(call));
    },
    get: (url, path) => hear(`${url}${path}`, 'GET'),
  };
}

/** Reads the value of one of the service's metrics. */
export async function metricOf({ metricsUrl }: ThrowAwayApp, name: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Returns the reason in an error's details, if there is one. */
export function reasonOf({ body }: CallReply): string | undefined {
  const { details } = body;
  return isRecord(details) && typeof details['reason'] === 'string' ? details['reason'] : undefined;
}

/**
 * Returns the id of the record that the answer has under the given name. Throws if the answer has no such
 * record.
 */
export function idIn(heard: CallReply, name: string): string {
  const record = heard.body[name];
  if (isRecord(record) && typeof record['id'] === 'string') return record['id'];
  throw new Error(`there is no ${name}: ${inWords(heard)}`);
}

/** Describes an answer briefly, for a violation's text. */
export const inWords = (heard: CallReply): string =>
  `${heard.status}: ${JSON.stringify(heard.body).slice(0, 300)}`;

/** Returns true for a 503 as the contract defines it, with a Retry-After of at least one second. */
export const asksToRetry = ({ status, body, retryAfter }: CallReply): boolean =>
  status === 503 && body['code'] === 'unavailable' && Number(retryAfter) >= 1;

/** Returns the quantile `part` (0 to 1) of the values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** Returns the quantile of the calls' durations, in milliseconds. */
export const millisOf = (heard: readonly CallReply[], part: number): number =>
  quantile(
    heard.map(({ millis }) => millis),
    part,
  );

export const isServed = ({ status }: CallReply): boolean => status === 200;

/** Returns a violation if any of the answers is not acceptable. */
export function oddAmong(heard: readonly CallReply[], who: string, isFine = isServed): string[] {
  const odd = heard.filter((one) => !isFine(one));
  const [first] = odd;
  return first === undefined ? [] : [`${odd.length} of ${heard.length} ${who} got such as ${inWords(first)}`];
}

/** An API with an organization on it, and clients for its members. */
export interface ApiSite extends TestOrg {
  readonly database: Database;
  readonly api: ThrowAwayApp;
  readonly callers: Callers;
  /** Starts another instance of the API. */
  readonly start: () => Promise<ThrowAwayApp>;
  /** Returns a function that calls the first instance with a member's token. */
  readonly as: (token: string) => Invoke;
}

export interface ApiSetUp extends OrganizationSetUp {
  readonly people: number;
  readonly removals?: readonly GuardRemoval[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The database to use; a new one by default. */
  readonly database?: Database;
}

export async function openApi(
  scope: Scope,
  { people, removals, environment, database: given, ...setUp }: ApiSetUp,
): Promise<ApiSite> {
  const database = given ?? (await scope.database());
  const organization = await foundOrganization(database, people, setUp);
  const start = () =>
    startApp(scope, 'coordination-api', {
      environment: { DATABASE_URL: database.url, ...environment },
      removals,
    });
  const [api, callers] = [await start(), openCallers(scope)];
  return {
    ...organization,
    ...{ database, api, callers, start },
    as: (token) => (operation, params) => callers.call(api.url, token, operation, params),
  };
}

/** The work on a story, with the data that its lease holder has. */
export interface HeldJob {
  readonly projectId: string;
  readonly storyId: string;
  readonly executionId: string;
  readonly leaseToken: unknown;
}

/** Creates a project and a story, and acquires a lease on the story. */
export async function beginWork(call: Invoke, key = 'PRV'): Promise<HeldJob> {
  const projectId = idIn(await call('projects.create', { key, name: 'What is proven' }), 'project');
  const story = await call('stories.create', { projectId, title: 'A story', status: 'ready' });
  const storyId = idIn(story, 'story');
  const target = { targetType: 'story', targetId: storyId };
  const acquired = await call('deliveryExecutions.acquire', { ...target, runId: 'run', ttlSeconds: 900 });
  const { leaseToken } = acquired.body;
  return { projectId, storyId, executionId: idIn(acquired, 'execution'), leaseToken };
}
