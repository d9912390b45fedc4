/** A2A 1.0: other orchestrators hand in work as tasks, which are stories, and follow the work on them. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, createClient, httpTransport, NoAnswer, type Transport } from '@muster/client';
import { type People, waitUntil } from '@muster/testing';
import { applyMessage, listTasks } from '../src/a2a/tasks.ts';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
let people: People;
let ana: Client;
let robo: Client;
const openControllers = new Set<AbortController>();

beforeEach(async () => {
  people = await gateway.world.org();
  ana = gateway.apiClient(people.ana.me.token);
  robo = gateway.apiClient(people.robo.me.token);
  await ana.projects.create({ key: 'WEB', name: 'Website' });
});
afterEach(() => {
  for (const leaving of openControllers) leaving.abort();
  openControllers.clear();
});

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message: { readonly parts: { readonly text: string }[] };
  };
  readonly artifacts?: { readonly parts: object[] }[];
}
interface Answer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown> & { readonly task?: Task };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data: Record<string, unknown>[];
  };
}

const post = (
  token: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
  at?: string,
) => {
  const leaving = new AbortController();
  openControllers.add(leaving);
  return fetch(`${at ?? new URL(gateway.url()).origin}/api/a2a`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...{ 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'call-1', method, params }),
  });
};
const call = async (method: string, params: object, token = people.ana.me.token, headers = {}) =>
  (await (await post(token, method, params, headers)).json()) as Answer;

let messageCount = 0;
const message = (text: string, more: object = {}) => ({
  ...{ messageId: `m-${(messageCount += 1)}`, role: 'ROLE_USER', parts: [{ text }] },
  ...more,
});
const returnImmediately = { configuration: { returnImmediately: true } };

async function createTask(text: string, metadata: object = {}): Promise<Task> {
  const { result, error } = await call('SendMessage', {
    message: message(text, { metadata }),
    ...returnImmediately,
  });
  if (result?.task === undefined) throw new Error(JSON.stringify(error));
  return result.task;
}
const get = async (id: string) => (await call('GetTask', { id })).result as unknown as Task;

async function startWork(storyId: string) {
  const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId, start: true },
  });
  return { executionId: execution.id, leaseToken };
}
async function submit(storyId: string) {
  const own = await startWork(storyId);
  await robo.deliveryExecutions.update({ ...own, git: { branch: 'topic' } });
  await robo.deliveryExecutions.complete({ ...own, outcome: 'submitted', summary: 'Retries added' });
}

/** Creates a client of Ana that runs a function before each call. */
function clientWithHook(before: (operation: string) => Promise<unknown>): Client {
  const line = httpTransport({ baseUrl: gateway.apiUrl(), token: people.ana.me.token });
  const transport: Transport = async (operation, params, options) => {
    await before(operation.name);
    return line(operation, params, options);
  };
  return createClient(transport);
}

/** Opens a stream, and collects its results until it ends. */
async function stream(method: string, params: object, at?: string) {
  const response = await post(people.ana.me.token, method, params, {}, at);
  const results: Record<string, unknown>[] = [];
  const read = async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks)
        if (block.startsWith('data: ')) results.push((JSON.parse(block.slice(6)) as Answer).result ?? {});
    }
  };
  const ended = read().catch(() => undefined);
  return { response, results, ended };
}

describe('a task', () => {
  it('is a story of the project, whose work it follows to its end', async () => {
    const task = await createTask('# Retry payments\n\nWith backoff.', {
      agentId: people.robo.me.agentId ?? '',
    });
    const { story } = await ana.stories.get({ storyId: 'WEB-1' });
    expect(story).toMatchObject({
      id: task.id,
      status: 'ready',
      description: '# Retry payments\n\nWith backoff.',
    });
    expect(story.title).toBe('Retry payments');
    expect(task).toMatchObject({
      contextId: story.projectId,
      status: {
        state: 'TASK_STATE_SUBMITTED',
        message: { role: 'ROLE_AGENT' },
        timestamp: expect.any(String),
      },
      history: [{ role: 'ROLE_USER', parts: [{ text: '# Retry payments\n\nWith backoff.' }] }],
      metadata: { key: 'WEB-1', storyStatus: 'ready', executionId: null },
    });
    expect((await robo.agents.inbox()).items).toMatchObject([{ kind: 'assigned' }]);
    await submit('WEB-1');
    const submitted = await get(task.id);
    expect(submitted.status.state).toBe('TASK_STATE_WORKING');
    expect(submitted.artifacts).toMatchObject([
      { parts: [{ text: 'Retries added' }, { data: { branch: 'topic' } }] },
    ]);
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    expect(await get(task.id)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await call('CancelTask', { id: task.id })).error?.code).toBe(-32_002);
    const late = await call('SendMessage', { message: message('More', { taskId: task.id }) });
    expect(late.error?.code).toBe(-32_004);
  });

  it('is created once by a message that is sent again', async () => {
    const params = { message: message('Once'), ...returnImmediately };
    const [first, second] = [await call('SendMessage', params), await call('SendMessage', params)];
    expect(second.result?.task?.id).toBe(first.result?.task?.id);
    expect((await ana.stories.list({ projectId: 'WEB' })).items).toHaveLength(1);
  });

  it('is assigned by the repeated message if its assignment got no answer', async () => {
    const sent = { message: { ...message('Assign me'), role: 'ROLE_USER' as const } };
    const metadata = { projectId: undefined, agentId: people.robo.me.agentId ?? '', memberId: undefined };
    const params = {
      message: { ...sent.message, metadata, contextId: undefined, taskId: undefined },
    };
    const cut = clientWithHook(async (name) => {
      if (name === 'assignments.set') throw new NoAnswer('cut');
    });
    await expect(applyMessage(cut, params, 'key')).rejects.toThrow('cut');
    const id = await applyMessage(ana, params, 'key');
    expect((await ana.stories.get({ storyId: 'WEB-1' })).story).toMatchObject({ id, status: 'ready' });
    expect((await robo.agents.inbox()).items).toMatchObject([{ kind: 'assigned' }]);
  });

  it('has a title that is cut between characters', async () => {
    await createTask(`a${'😀'.repeat(200)}`);
    const { story } = await ana.stories.get({ storyId: 'WEB-1' });
    expect(story.title).toBe(`a${'😀'.repeat(99)}…`);
  });

  it('needs input while an agent asks, and goes on with the answer', async () => {
    const { id, contextId } = await createTask('Ask me');
    const { executionId, leaseToken } = await startWork(id);
    const asked = await robo.comments.create({ storyId: id, kind: 'question', body: 'Which color?' });
    const questionId = asked.comment.id;
    await robo.deliveryExecutions.update({ executionId, leaseToken, waitingFor: { questionId } });
    const waiting = await get(id);
    expect([waiting.status.state, waiting.status.message.parts[0]?.text]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'Which color?',
    ]);
    const other = message('Blue', { taskId: id, contextId: executionId });
    expect((await call('SendMessage', { message: other })).error?.code).toBe(-32_602);
    const answer = { message: message('Blue', { taskId: id, contextId }), ...returnImmediately };
    expect((await call('SendMessage', answer)).result?.task?.status.state).toBe('TASK_STATE_WORKING');
    const { signals } = await robo.deliveryExecutions.renew({ executionId, leaseToken });
    expect(JSON.stringify(signals)).toContain('Blue');
    // The question was resolved since, and the repeated answer has no further effect.
    expect((await call('SendMessage', answer)).result?.task?.status.state).toBe('TASK_STATE_WORKING');
    expect((await ana.comments.list({ storyId: id })).items).toMatchObject([{ replies: [{ body: 'Blue' }] }]);
    await call('SendMessage', { message: message('And fast', { taskId: id }), ...returnImmediately });
    expect((await ana.comments.list({ storyId: id })).items.map(({ body }) => body)).toContain('And fast');
  });

  it('is canceled with its story, which ends the work', async () => {
    const { id } = await createTask('Never mind');
    const own = await startWork(id);
    expect((await call('CancelTask', { id })).result).toMatchObject({
      ...{ id, status: { state: 'TASK_STATE_CANCELED' } },
    });
    await expect(robo.deliveryExecutions.renew(own)).rejects.toMatchObject({ reason: 'stale_lease' });
    expect((await call('CancelTask', { id })).error?.code).toBe(-32_002);
  });

  it('failed if the work on it failed', async () => {
    const { id } = await createTask('Impossible');
    const own = await startWork(id);
    await robo.deliveryExecutions.complete({
      ...own,
      outcome: 'failed',
      failure: 'conflict',
      summary: 'No way',
    });
    expect(await get(id)).toMatchObject({
      status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: 'No way' }] } },
    });
  });

  it('of a project that the caller cannot see does not exist', async () => {
    const { id } = await createTask('Secret');
    await ana.projects.update({ projectId: 'WEB', visibility: 'private' });
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
      const { error } = await call(method, { id }, people.dan.me.token);
      expect(error).toMatchObject({
        code: -32_001,
        data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }],
      });
    }
    expect((await call('GetTask', { id: 'made up' })).error?.code).toBe(-32_001);
  });

  it('is listed with those that changed last first, by state and by page', async () => {
    const first = await createTask('First');
    const second = await createTask('Second');
    await startWork(first.id);
    const list = async (params: object) => (await call('ListTasks', params)).result as { tasks: Task[] };
    const all = await list({});
    expect(all).toMatchObject({ nextPageToken: '', pageSize: 20, totalSize: 2 });
    expect(all.tasks.map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(all.tasks[0]).not.toHaveProperty('artifacts');
    const working = await list({ status: 'TASK_STATE_WORKING', contextId: first.contextId });
    expect(working.tasks.map(({ id }) => id)).toEqual([first.id]);
    const page = (await list({ pageSize: 1 })) as { tasks: Task[]; nextPageToken: string };
    const rest = await list({ pageSize: 1, pageToken: page.nextPageToken, includeArtifacts: true });
    expect(rest.tasks).toMatchObject([{ id: second.id, artifacts: [] }]);
    let deletion: Promise<unknown> | undefined;
    const racing = clientWithHook(async (name) => {
      if (name === 'storyCollaboration.context')
        await (deletion ??= ana.stories.delete({ storyId: second.id }));
    });
    const left = await listTasks(racing, { contextId: undefined, pageToken: undefined });
    expect(left).toMatchObject({ tasks: [{ id: first.id }] });
  });
});

describe('a stream', () => {
  it('begins with the task, brings each change through the API, and ends with the task', async () => {
    const follow = await stream('SendStreamingMessage', { message: message('Follow me') }, gateway.apiUrl());
    await waitUntil(() => follow.results.length === 1);
    const { id, contextId } = follow.results[0]?.['task'] as Task;
    await submit(id);
    await waitUntil(() => follow.results.some((result) => 'artifactUpdate' in result));
    const watch = await stream('SubscribeToTask', { id });
    await waitUntil(() => watch.results.length === 1);
    await ana.stories.updateStatus({ storyId: id, status: 'done' });
    await Promise.all([follow.ended, watch.ended]);
    expect(follow.response.headers.get('content-type')).toBe('text/event-stream');
    for (const { results } of [follow, watch])
      expect(results.at(-1)).toMatchObject({
        statusUpdate: { taskId: id, contextId, status: { state: 'TASK_STATE_COMPLETED' } },
      });
    expect(watch.results[0]).toMatchObject({ task: { id, status: { state: 'TASK_STATE_WORKING' } } });
    expect((await call('SubscribeToTask', { id })).error?.code).toBe(-32_004);
  });

  it('of a message that waits returns the task when it needs input', async () => {
    const answer = call('SendMessage', { message: message('Wait for me') });
    await waitUntil(async () => (await ana.stories.list({ projectId: 'WEB' })).items.length === 1);
    const { executionId, leaseToken } = await startWork('WEB-1');
    const asked = await robo.comments.create({ storyId: 'WEB-1', kind: 'question', body: 'Why?' });
    const waitingFor = { questionId: asked.comment.id };
    await robo.deliveryExecutions.update({ executionId, leaseToken, waitingFor });
    expect((await answer).result?.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('of a message returns the task also if newer streams of the member replace it', async () => {
    const answers = Array.from({ length: 5 }, (_, index) =>
      call('SendMessage', { message: message(`Number ${index}`) }),
    );
    expect((await Promise.race(answers)).result?.task?.status.state).toBe('TASK_STATE_SUBMITTED');
    await Promise.all(
      (await ana.stories.list({ projectId: 'WEB' })).items.map(({ id }) => call('CancelTask', { id })),
    );
    for (const answer of await Promise.all(answers)) expect(answer.result?.task).toBeDefined();
  });
});

describe('a request', () => {
  it.each([
    ['SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }, -32_602],
    ['SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw: 'AA==' }] } }, -32_005],
    ['SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: ' ' }] } }, -32_602],
    ['GetTask', {}, -32_602],
    ['CreateTaskPushNotificationConfig', { taskId: 'x', url: 'https://a.example' }, -32_003],
    ['GetExtendedAgentCard', {}, -32_004],
    ['tasks/get', {}, -32_601],
    ['toString', {}, -32_601],
  ])('%s %j is refused by code %i', async (method, params, code) => {
    expect(await call(method, params)).toMatchObject({ id: 'call-1', error: { code } });
  });

  it('of another version, without rights or without a token is refused', async () => {
    const params = { message: message('No') };
    for (const version of ['0.3', ''])
      expect(
        (await call('SendMessage', params, people.ana.me.token, { 'a2a-version': version })).error?.code,
      ).toBe(-32_009);
    const reader = await gateway.world.token(people.orgId, people.ana.me.memberId, { scopes: ['read'] });
    const refused = await call('SendMessage', params, reader.me.token);
    expect(refused.error).toMatchObject({ code: -32_000, data: [{ domain: 'muster' }] });
    for (const at of [undefined, gateway.apiUrl()]) {
      const response = await post('must_live_x', 'GetTask', { id: 'x' }, {}, at);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('Bearer'),
      ]);
    }
  });

  it('names the project if the caller sees several', async () => {
    await ana.projects.create({ key: 'APP', name: 'App' });
    const { error } = await call('SendMessage', { message: message('Where?'), ...returnImmediately });
    expect(error).toMatchObject({
      code: -32_602,
      data: [{ fieldViolations: [{ field: 'message.metadata.projectId' }] }],
    });
    const task = await createTask('There', { projectId: 'APP' });
    const next = { message: message('And there', { contextId: task.contextId }), ...returnImmediately };
    expect((await call('SendMessage', next)).result?.task).toMatchObject({ metadata: { key: 'APP-2' } });
    await createTask('Nobody', { projectId: 'APP' });
    const unknown = message('No', { metadata: { projectId: 'APP', agentId: 'no-such-agent' } });
    expect((await call('SendMessage', { message: unknown })).error).toBeDefined();
    expect((await ana.stories.get({ storyId: 'APP-4' })).story.status).toBe('canceled');
  });
});
