/** The Tasks extension (SEP-2663): a client waits for its inbox by a task that it polls. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { type RpcOptions, useGateway } from './gateway.ts';

const gateway = useGateway();
let people: People;
let ana: Client;

beforeEach(async () => {
  people = await gateway.world.org();
  ana = gateway.apiClient(people.ana.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Website' });
  await ana.stories.create({ projectId: 'WEB', title: 'One' });
});

const taskCapabilities: RpcOptions = {
  meta: {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  },
};
const mention = (name: string) => ana.comments.create({ storyId: 'WEB-1', body: `@${name} look` });

async function call(token: string, method: string, params: object, options: RpcOptions = taskCapabilities) {
  const { body, text } = await gateway.modern(token, method, params, options);
  return body.result ?? { failed: body.error ?? text };
}
const callWaitFor = (args: object = {}, options?: RpcOptions) =>
  call(people.robo.me.token, 'tools/call', { name: 'wait_for', arguments: args }, options);
const get = (taskId: unknown, token = people.robo.me.token) => call(token, 'tasks/get', { taskId });

describe('a wait for the inbox', () => {
  it('becomes a task, which works until something comes in and then has the result of the call', async () => {
    const created = await callWaitFor();
    const shared = {
      ...{ taskId: expect.any(String), createdAt: expect.any(String), lastUpdatedAt: expect.any(String) },
      ...{ ttlMs: 86_400_000, pollIntervalMs: 5_000 },
    };
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ...shared });
    const { taskId } = created as { taskId: string };
    const working = await get(taskId);
    expect(working).toMatchObject({ ...shared, resultType: 'complete', status: 'working', taskId });
    expect(working).not.toHaveProperty('result');
    await mention('robo');
    const completed = await get(taskId);
    const page = { items: [expect.objectContaining({ seq: 1, kind: 'mention' })], cursor: 1 };
    expect(completed).toMatchObject({
      ...{ ...shared, taskId, resultType: 'complete', status: 'completed' },
      result: { structuredContent: page, content: [{ type: 'text', text: expect.any(String) }] },
    });
    // The result can be read again, after a restart of the gateway too.
    await gateway.whileGatewayIsAway(async () => undefined);
    expect(await get(taskId)).toMatchObject({ status: 'completed', result: { structuredContent: page } });
  });

  it('is answered directly if there are items, if it must not wait, and to a client without tasks', async () => {
    expect(await callWaitFor({ waitSeconds: 0 })).toMatchObject({ resultType: 'complete' });
    expect(await callWaitFor({ waitSeconds: 1 }, {})).toMatchObject({
      ...{ resultType: 'complete', structuredContent: { items: [] } },
    });
    await mention('robo');
    expect(await callWaitFor()).toMatchObject({ structuredContent: { items: [{ kind: 'mention' }] } });
    expect(await callWaitFor({ after: 1 })).toMatchObject({ resultType: 'task' });
  });

  it('keeps its task while the API is away', async () => {
    const { taskId } = (await callWaitFor()) as { taskId: string };
    await gateway.whileApiIsAway(async () => undefined);
    ana = gateway.apiClient(people.ana.me.token);
    expect(await get(taskId)).toMatchObject({ status: 'working' });
  });

  it('has a task of its caller alone, which acknowledges an update and a cancellation', async () => {
    const { taskId } = (await callWaitFor()) as { taskId: string };
    const noSuchTask = { failed: { code: -32_602, message: expect.stringContaining('no such task') } };
    expect(await get(taskId, people.chloe.me.token)).toMatchObject(noSuchTask);
    expect(await get('made-up')).toMatchObject(noSuchTask);
    const { token } = people.robo.me;
    for (const method of ['tasks/update', 'tasks/cancel']) {
      const params = { taskId, inputResponses: {} };
      expect(await call(token, method, params)).toMatchObject({ resultType: 'complete' });
      expect(await call(token, method, { ...params, taskId: 'x' })).toMatchObject(noSuchTask);
    }
  });
});

it('the extension is declared in its own era, and unknown to the older ones', async () => {
  const { token } = people.ana.me;
  const discovered = await gateway.modern(token, 'server/discover');
  expect(discovered.body.result).toMatchObject({
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });
  const begun = await gateway.rpc(token, 'initialize', {
    ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'spec', version: '1' } },
  });
  expect(JSON.stringify(begun.body.result)).not.toContain('tasks');
  expect((await gateway.rpc(token, 'tasks/get', { taskId: 'x' })).body.error?.code).toBe(-32_601);
});

it('a subscription to tasks needs the capability', async () => {
  const { body } = await gateway.modern(people.ana.me.token, 'subscriptions/listen', {
    notifications: { taskIds: ['x'] },
  });
  const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  expect(body.error).toMatchObject({ code: -32_021, data: { requiredCapabilities } });
});
