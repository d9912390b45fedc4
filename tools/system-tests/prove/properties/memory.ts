/**
 * One malicious viewer makes all kinds of expensive calls that are permitted, concurrently. The viewer reads
 * pages of the maximum size, requests lists of tools that are not cached, sends large bodies, and waits long.
 * Both services have the memory limits of their containers.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { repositoryRoot, type ThrowAwayApp } from '@muster/tools';
import { beginWork, idIn, openCallers } from '../callers.ts';
import { without } from '../guards.ts';
import { during } from '../havoc.ts';
import { type TestSite, residentMebibytes, startTestSite } from '../house.ts';
import { foundOrganization } from '../organization.ts';
import { property, type RunProperty, type RunSetup } from '../property.ts';
import { type Scope } from '../services.ts';

interface Extent {
  readonly seconds: number;
  /** The number of large texts of each kind, and of replies to one comment. */
  readonly texts: number;
  readonly atOnce: number;
}

/** Reads the memory limit of the service's container, in MiB. */
async function limitOf(service: string): Promise<number> {
  const file = path.join(repositoryRoot, 'tools/deploy/kubernetes/services', `${service}.yaml`);
  const [, mebibytes] = /limits:\s+(?:cpu: \S+\s+)?memory: (\d+)Mi/.exec(await readFile(file, 'utf8')) ?? [];
  if (mebibytes === undefined) throw new Error(`${service} has no limit of memory in Mi`);
  return Number(mebibytes);
}

interface Ground {
  /** The token of the malicious viewer. */
  readonly viewer: string;
  readonly executionId: string;
}

/** Creates an organization with large records to read. */
async function arrange({ services }: RunSetup, { database, api }: TestSite, texts: number): Promise<Ground> {
  const callers = openCallers(services);
  const { people, enter } = await foundOrganization(database, 2, { viewers: [1] });
  const [{ token: lead }, dan] = people;
  const { token: viewer } = await enter(dan?.email ?? '', { scopes: ['write'] });
  const as = (token: string) => (operation: string, params: object) =>
    callers.call(api.url, token, operation, params);
  const [make, write] = [as(lead), as(viewer)];
  const { projectId, executionId } = await beginWork(make, 'WEB');
  const parentId = idIn(await write('comments.create', { storyId: 'WEB-1', body: 'Root' }), 'comment');
  for (let index = 0; index < texts; index += 1) {
    // A quota may refuse some of these calls. In that case the quota keeps the answers small.
    await Promise.all([
      write('comments.create', { storyId: 'WEB-1', parentId, body: 'x'.repeat(19_000) }),
      make('contracts.publish', {
        ...{ projectId, name: `c${index}`, kind: 'other', content: 'x'.repeat(250_000) },
      }),
      make('prompts.org.upsert', { slug: `p${index}`, title: 'P', body: 'x'.repeat(60_000) }),
      make('agents.catalog.publish', {
        ...{ slug: `a${index}`, version: '1.0.0', name: 'A', description: 'A', content: 'x' },
        manifest: { text: 'x'.repeat(60_000) },
      }),
    ]);
  }
  return { viewer, executionId };
}

/** A service whose memory is measured. */
interface WatchedApp {
  readonly name: string;
  readonly app: ThrowAwayApp;
  /**
   * `limit` is the memory limit of the service's container, and `most` is the largest measured memory use.
   * Both are in MiB.
   */
  readonly limit: number;
  most: number;
}

async function lookAt(watched: readonly WatchedApp[]): Promise<void> {
  for (const one of watched) {
    if (one.app.isAlive()) one.most = Math.max(one.most, await residentMebibytes(one.app).catch(() => 0));
  }
}

/** Sends bodies and reads the answers with a delay. Counts all calls, even those that fail. */
function openSender(services: Scope, token: string) {
  const agent = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000 });
  services.onStop(() => agent.destroy());
  let calls = 0;
  return {
    post: async (url: string, body: string): Promise<void> => {
      const { origin, pathname, search } = new URL(url);
      try {
        const answer = await agent.request({
          ...{ origin, path: `${pathname}${search}`, method: 'POST', body },
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        });
        // The delay simulates a slow reader, whose answer the service has to buffer.
        await pause(100);
        await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
      } catch {
        // The service closes the connection if it refuses a body before its end.
      }
      calls += 1;
    },
    count: () => calls,
    stop: () => void agent.destroy(),
  };
}

/** Returns the calls that the viewer repeats. */
function wishesOf(
  { api, gateway }: TestSite,
  executionId: string,
  post: ReturnType<typeof openSender>['post'],
): readonly (() => Promise<void>)[] {
  const operation = (name: string, params: object) =>
    post(`${api.url}/api/query`, JSON.stringify({ operation: name, params }));
  const rpc = (query: string, method: string, params: string) =>
    post(
      `${gateway.url}/api/mcp${query}`,
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
    );
  const tiny = Array.from({ length: 2_600_000 }, () => '[]').join(',');
  const waiting = JSON.stringify({
    name: 'deliveryExecutions_eventsSince',
    arguments: { executionId, afterSeq: 1_000, waitSeconds: 20 },
  });
  let project = 0;
  return [
    () => operation('comments.list', { storyId: 'WEB-1', limit: 200 }),
    () => operation('contracts.list', { projectId: 'WEB', includeContent: true, limit: 200 }),
    () => operation('prompts.org.list', { includeBody: true, limit: 200 }),
    () => operation('agents.catalog.list', { limit: 200 }),
    () => rpc(`?project=K${(project += 1)}&outputSchema=1`, 'tools/list', '{}'),
    () => rpc('', 'tools/call', `{"name":"x","arguments":{"a":[${tiny}]}}`),
    () => rpc('', 'tools/call', waiting),
  ];
}

const run: RunProperty<Extent> = async (setting, { seconds, texts, atOnce }, removals) => {
  const house = await startTestSite(setting.services, { gateway: removals });
  const { viewer, executionId } = await arrange(setting, house, texts);
  const watched: WatchedApp[] = [
    { name: 'coordination-api', app: house.api, limit: await limitOf('coordination-api'), most: 0 },
    { name: 'mcp-gateway', app: house.gateway, limit: await limitOf('mcp-gateway'), most: 0 },
  ];
  const sender = openSender(setting.services, viewer);
  const wishes = wishesOf(house, executionId, sender.post);
  // The run stops early, because the result is clear and the machine may have no more memory.
  const isTooMuch = () => watched.some(({ most, limit }) => most > limit);
  const ends = performance.now() + seconds * 1_000;
  const all = wishes.flatMap((wish) => Array.from({ length: atOnce }, () => wish));
  await during(all, async () => {
    for (let isEnough = false; !isEnough; isEnough = isTooMuch() || performance.now() > ends) {
      await lookAt(watched);
      await pause(50);
    }
    // Calls that have no answer by now are not awaited.
    sender.stop();
  });
  await lookAt(watched);
  return {
    violations: watched.flatMap(({ name, app, limit, most }) => [
      ...(most > limit ? [`${name} had ${Math.round(most)} MiB in memory; its container has ${limit}`] : []),
      ...(app.isAlive() ? [] : [`${name} has ended`]),
    ]),
    figures: {
      calls: sender.count(),
      ...Object.fromEntries(watched.map(({ name, most }) => [`MiB of ${name} at most`, Math.round(most)])),
    },
  };
};

export const memory = property<Extent>({
  name: 'memory',
  leftTo: 'nx long',
  promise:
    'Whatever one viewer requests that is permitted, in any number at once, API and gateway stay within the memory of their containers.',
  short: { seconds: 2, texts: 15, atOnce: 8 },
  long: { seconds: 60, texts: 200, atOnce: 40 },
  run,
  controls: [
    {
      name: 'bodies are read and parsed without a limit',
      extent: { seconds: 30, texts: 0, atOnce: 24 },
      without: [
        without('values of a body'),
        without('what one party has in its hands', 'const admission = limiter.acquire([party], 0);'),
      ],
    },
  ],
});
