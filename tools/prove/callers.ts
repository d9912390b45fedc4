/** Calls as they went: what was answered and how soon, or that no answer came. Nothing is tried again. */
import { pathOf } from '@muster/registry';
import { Agent } from 'undici';
import { type ThrowAwayApp } from '@muster/tools';
import { startApp } from './bundles.ts';
import { type Removal } from './guards.ts';
import { foundOrganization, type Organization, type OrganizationSetUp } from './organization.ts';
import { type Database, type Scope } from './services.ts';

/** An answer, or 0 and what went wrong where none came. */
export interface Heard {
  readonly status: number;
  readonly millis: number;
  readonly text: string;
  /** Empty where the text is no record. */
  readonly body: Record<string, unknown>;
  /** Of a 503 and a 429. */
  readonly retryAfter: string | null;
  /** The server ends the connection with it. */
  readonly closes: boolean;
}

export type Call = (operation: string, params: object) => Promise<Heard>;

export interface Callers {
  call(url: string, token: string, operation: string, params: object): Promise<Heard>;
  get(url: string, path: string): Promise<Heard>;
  /** Sends this text. */
  post(url: string, token: string, body: string): Promise<Heard>;
  /** The same by way of the gateway: its answer is JSON-RPC. */
  tool(gatewayUrl: string, token: string, name: string, params: object): Promise<Heard>;
}

/** Longer than any answer that still comes. */
const patienceMillis = 60_000;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Connections of their own, as many as there are calls at once. */
export function openCallers(scope: Scope): Callers {
  const agent = new Agent({ headersTimeout: patienceMillis, bodyTimeout: patienceMillis });
  scope.onStop(() => agent.destroy());
  const hear = async (url: string, method: 'GET' | 'POST', token?: string, body?: string): Promise<Heard> => {
    const began = performance.now();
    const { origin, pathname } = new URL(url);
    try {
      const answer = await agent.request({
        ...{ origin, path: pathname, method },
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
      return post(`${url}/api/mcp`, token, JSON.stringify(call));
    },
    get: (url, path) => hear(`${url}${path}`, 'GET'),
  };
}

/** The value of one of the service's metrics. */
export async function metricOf({ metricsUrl }: ThrowAwayApp, name: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Why an answer is what it is, where it says so. */
export function reasonOf({ body }: Heard): string | undefined {
  const { details } = body;
  return isRecord(details) && typeof details['reason'] === 'string' ? details['reason'] : undefined;
}

/** The id of the record that an answer has by this name; throws where there is none. */
export function idIn(heard: Heard, name: string): string {
  const record = heard.body[name];
  if (isRecord(record) && typeof record['id'] === 'string') return record['id'];
  throw new Error(`there is no ${name}: ${inWords(heard)}`);
}

/** In a few words, for whoever reads a violation. */
export const inWords = (heard: Heard): string =>
  `${heard.status}: ${JSON.stringify(heard.body).slice(0, 300)}`;

/** 503 as the contract has it: come again, after so long. */
export const asksToComeAgain = ({ status, body, retryAfter }: Heard): boolean =>
  status === 503 && body['code'] === 'unavailable' && Number(retryAfter) >= 1;

/** Of so many values the one that this part of them does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** The quantile of the calls' durations, in milliseconds. */
export const millisOf = (heard: readonly Heard[], part: number): number =>
  quantile(
    heard.map(({ millis }) => millis),
    part,
  );

export const isServed = ({ status }: Heard): boolean => status === 200;

/** A violation where any call was answered as it must not be. */
export function oddAmong(heard: readonly Heard[], who: string, isFine = isServed): string[] {
  const odd = heard.filter((one) => !isFine(one));
  const [first] = odd;
  return first === undefined ? [] : [`${odd.length} of ${heard.length} ${who} got such as ${inWords(first)}`];
}

/** An API, people who call it, and how they do. */
export interface ApiSite extends Organization {
  readonly database: Database;
  readonly api: ThrowAwayApp;
  readonly callers: Callers;
  /** One more copy of the API. */
  readonly start: () => Promise<ThrowAwayApp>;
  /** A member's calls to the first copy. */
  readonly as: (token: string) => Call;
}

export interface ApiSetUp extends OrganizationSetUp {
  readonly people: number;
  readonly removals?: readonly Removal[];
  readonly environment?: Readonly<Record<string, string>>;
  /** One of its own unless told. */
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

/** Work on a story, as its holder knows it. */
export interface Work {
  readonly projectId: string;
  readonly storyId: string;
  readonly executionId: string;
  readonly leaseToken: unknown;
}

/** A project, a story in it and a lease of the story. */
export async function beginWork(call: Call, key = 'PRV'): Promise<Work> {
  const projectId = idIn(await call('projects.create', { key, name: 'What is proven' }), 'project');
  const story = await call('stories.create', { projectId, title: 'A story', status: 'ready' });
  const storyId = idIn(story, 'story');
  const target = { targetType: 'story', targetId: storyId };
  const acquired = await call('deliveryExecutions.acquire', { ...target, runId: 'run', ttlSeconds: 900 });
  const { leaseToken } = acquired.body;
  return { projectId, storyId, executionId: idIn(acquired, 'execution'), leaseToken };
}
