// A client that requests progress gets notifications during a long call; other clients notice no difference.
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const about = { name: 'spec', version: '1' };
const running: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(running.splice(0).map((client) => client.close()));
});

const withToken = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

/** Calls the tool, passes progress to `onprogress`, and returns the result. */
type CallWait = (args: Record<string, unknown>, onprogress: (seen: object) => void) => Promise<object>;

const modern = (options: object) => async (url: URL, token: string) => {
  const client = new ModernClient(about, options);
  await client.connect(new ModernTransport(url, withToken(token)));
  running.push(client);
  return ((args, onprogress) =>
    client.callTool({ name: 'wait_for', arguments: args }, { onprogress })) satisfies CallWait;
};

const clients: Record<string, (url: URL, token: string) => Promise<CallWait>> = {
  'the v1 SDK': async (url, token) => {
    const client = new OlderClient(about);
    await client.connect(new OlderTransport(url, withToken(token)));
    running.push(client);
    return (args, onprogress) =>
      client.callTool({ name: 'wait_for', arguments: args }, undefined, { onprogress });
  },
  'the v2 SDK, as it comes': modern({}),
  'the v2 SDK, stateless': modern({ versionNegotiation: { mode: { pin: '2026-07-28' } } }),
};

async function startWork() {
  const { ana, robo } = await gateway.world.org();
  const api = gateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'First', status: 'ready' });
  const { structuredContent } = await gateway.tool(robo.me.token, 'start_work', { storyId: 'WEB-1' });
  const { execution, leaseToken } = structuredContent as unknown as {
    execution: { id: string };
    leaseToken: string;
  };
  const held = { executionId: execution.id, leaseToken };
  // Consume the signals that came with the start of the work: each is delivered once.
  await gateway.tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 0 });
  const stop = () => api.deliveryExecutions.update({ executionId: held.executionId, requestStop: true });
  return { token: robo.me.token, held, stop };
}

const progressTokenMeta = { progressToken: 'mine' };
const acceptHeaders = { accept: 'application/json, text/event-stream' };
const gatewayUrls: Record<string, () => string> = {
  'the gateway': () => gateway.url(),
  'the API': () => `${gateway.apiUrl()}/api/mcp`,
};

/** The tests mostly wait for seconds, so they run concurrently. */
describe('a call that waits', () => {
  it.concurrent.each(
    Object.entries(clients).flatMap(([name, connect]) =>
      Object.entries(gatewayUrls).map(([through, place]) => ({ name, through, connect, place })),
    ),
  )('tells $name so through $through, and then the answer', async ({ connect, place }) => {
    const { token, held, stop } = await startWork();
    const wait = await connect(new URL(place()), token);
    const heard: object[] = [];
    const answer = await wait({ ...held, waitSeconds: 25 }, (seen) => {
      heard.push(seen);
      if (heard.length === 1) void stop();
    });
    expect(heard[0]).toMatchObject({ progress: 5, message: 'Waiting, 5 s' });
    expect(answer).toMatchObject({ structuredContent: { signals: [{ kind: 'stop_requested' }] } });
  });

  it.concurrent.each([
    ['asks for no progress', acceptHeaders, {}],
    ['takes JSON alone', { accept: 'application/json' }, progressTokenMeta],
  ])('is one JSON body where its client %s', async (_why, headers, meta) => {
    const { token, held } = await startWork();
    const params = { name: 'wait_for', arguments: { ...held, waitSeconds: 7 } };
    const answer = await gateway.rpc(token, 'tools/call', params, { meta, headers });
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.body.result).toMatchObject({ structuredContent: { signals: [] } });
  });
});

it.each(['rpc', 'modern'] as const)('a call that is answered at once is one JSON body (%s)', async (era) => {
  const { token } = await startWork();
  const params = { name: 'session_identity', arguments: {} };
  const answer = await gateway[era](token, 'tools/call', params, {
    meta: progressTokenMeta,
    headers: acceptHeaders,
  });
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(answer.body.result).toMatchObject({ structuredContent: { member: {} } });
});
