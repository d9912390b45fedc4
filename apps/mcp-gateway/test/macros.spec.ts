// Tests that a macro succeeds completely, or does nothing and says why. Also tests the tools that an agent
// uses during a day's work in core mode.
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type Signal } from '@muster/contract';
import { type People } from '@muster/testing';
import { pino } from 'pino';
import { createGateway, type Gateway } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type ToolAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;
const core = { query: '?mode=core' };
const nobody = '01936d5c-0000-7000-8000-00000000dead';

async function createTestBoard(): Promise<People & { readonly api: Client }> {
  const people = await world.org();
  const api = gateway.apiClient(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  for (const title of ['First', 'Second']) await api.stories.create({ projectId: 'WEB', title });
  return { ...people, api };
}

interface HeldWork {
  readonly executionId: string;
  readonly leaseToken: string;
}

const tool = (token: string, name: string, args: object) => gateway.tool(token, name, args, core);
const errorOf = ({ structuredContent }: ToolAnswer) => structuredContent.error;

async function startWork(token: string, args: object = {}): Promise<HeldWork> {
  const { structuredContent } = await tool(token, 'start_work', { storyId: 'WEB-1', ...args });
  const { execution, leaseToken } = structuredContent as unknown as {
    execution: { id: string };
    leaseToken: string;
  };
  return { executionId: execution.id, leaseToken };
}

const validCheckpoint = { summary: 'Half of it', nextSteps: ['The rest'] };

/** Reads the current checkpoint. */
const checkpointOf = async (api: Client, { executionId }: HeldWork) =>
  (await api.deliveryExecutions.get({ executionId })).execution.checkpoint;

interface CutSpec {
  readonly spec: { readonly content: string };
  readonly cut?: { readonly parts: readonly { readonly path: string; readonly next?: string }[] };
}

it.each([
  ['start_work', { storyId: 'WEB-1' }, 'context.spec.content'],
  ['next_work', { projectId: 'WEB', runId: 'run-1' }, 'context.spec.content'],
  ['storyCollaboration_context', { storyId: 'WEB-1' }, 'spec.content'],
])('%s says how to read on where a spec is cut', async (name, args, path) => {
  const { robo, api } = await createTestBoard();
  await api.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
  const lines = Array.from(
    { length: 900 },
    (_, at) => `- requirement ${at}: 請求 must be kept for a while\n`,
  );
  const { spec } = await api.storySpec.update({ storyId: 'WEB-1', content: lines.join('') });
  const begin = (await tool(robo.me.token, name, args)).structuredContent as unknown as CutSpec & {
    readonly context?: CutSpec;
  };
  let content = (begin.context ?? begin).spec.content;
  expect(begin.cut).toMatchObject({ how: expect.stringMatching(/storySpec_get .*WEB-1.*part/) });
  const cutAt = begin.cut?.parts.find((part) => part.path === path);
  let next = cutAt?.next;
  expect(next).toBe(`spec.content@${content.length}`);
  while (next !== undefined) {
    const params = { storyId: 'WEB-1', part: next };
    const read = await tool(robo.me.token, 'call_read_operation', { operation: 'storySpec.get', params });
    const { spec: more, cut } = read.structuredContent as unknown as CutSpec;
    content += more.content;
    next = cut?.parts[0]?.next;
  }
  expect(content).toBe(spec.content);
});

describe('start_work', () => {
  it('begins nothing where a path is locked, and says by whom, which and until when', async () => {
    const { robo, ben, api } = await createTestBoard();
    const locked = await gateway
      .apiClient(ben.me.token)
      .locks.acquire({ projectId: 'WEB', resources: ['src/auth/login.ts'] });
    const refused = await tool(robo.me.token, 'start_work', { storyId: 'WEB-1', resources: ['src/auth/**'] });
    expect(Object.keys(refused.structuredContent)).toEqual(['error']);
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'lock_held', conflicts: [{ witness: 'src/auth/login.ts' }] },
      hint: expect.stringMatching(
        `^Ben holds src/auth/login.ts until ${String(locked.lock?.expiresAt)}\\. .*other work`,
      ),
    });
    const { execution } = await api.deliveryExecutions.getForTarget({
      targetType: 'story',
      targetId: 'WEB-1',
    });
    const { story } = await api.stories.get({ storyId: 'WEB-1' });
    expect([execution, story.status]).toEqual([null, 'backlog']);
  });

  it('begins nothing that waits for another story, unless it is told to', async () => {
    const { robo, api } = await createTestBoard();
    await api.stories.update({ storyId: 'WEB-1', blockedBy: ['WEB-2'] });
    const refused = await tool(robo.me.token, 'start_work', { storyId: 'WEB-1', runId: 'run-1' });
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'blocked', readiness: { canStart: false } },
      hint: expect.stringContaining('WEB-2'),
    });
    expect((await api.stories.get({ storyId: 'WEB-1' })).story.status).toBe('backlog');
    await startWork(robo.me.token, { runId: 'run-1', force: true });
    // A worker that already holds the story continues.
    await startWork(robo.me.token, { runId: 'run-1' });
  });

  it('tells who works on it, and locks nothing', async () => {
    const { robo, ben, api } = await createTestBoard();
    await startWork(ben.me.token);
    const refused = await tool(robo.me.token, 'start_work', { storyId: 'WEB-1', resources: ['src/**'] });
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'lease_held' },
      hint: expect.stringMatching(/^Ben holds it until 2/),
    });
    expect((await api.locks.list({ projectId: 'WEB' })).items).toEqual([]);
  });
});

describe('next_work', () => {
  const next = (token: string, args: object, query = '?mode=core') =>
    gateway.tool(token, 'next_work', args, { query });

  it('begins a story that nobody holds, for each another, and tells all of it', async () => {
    const { robo, ben } = await createTestBoard();
    const [mine, theirs] = await Promise.all([
      next(robo.me.token, { projectId: 'WEB', runId: 'run-1' }),
      next(ben.me.token, { projectId: 'WEB', runId: 'run-2' }),
    ]);
    const keys = [mine, theirs].map(({ structuredContent: { context } }) => {
      const { story } = context as { story: { key: string; status: string } };
      return [story.status, story.key];
    });
    expect(keys.sort()).toEqual([
      ['in_progress', 'WEB-1'],
      ['in_progress', 'WEB-2'],
    ]);
    expect(mine.structuredContent).toMatchObject({
      execution: { state: 'leased', runId: 'run-1' },
      leaseToken: expect.stringMatching(/^lse_/),
    });
    // A run that lost its state calls again with the same runId and continues.
    const again = await next(robo.me.token, { projectId: 'WEB', runId: 'run-1' });
    expect(again.structuredContent).toMatchObject({
      resumed: true,
      execution: { id: (mine.structuredContent['execution'] as { id: string }).id },
    });
  });

  it('locks paths in the same call, or begins nothing where they are locked', async () => {
    const { robo, ben, api } = await createTestBoard();
    await gateway.apiClient(ben.me.token).locks.acquire({ projectId: 'WEB', resources: ['docs'] });
    const ask = (resources: readonly string[]) =>
      next(robo.me.token, { projectId: 'WEB', runId: 'run-1', resources });
    const refused = await ask(['src', 'docs/a.md']);
    expect(errorOf(refused)?.details).toMatchObject({ reason: 'lock_held' });
    expect((await api.deliveryExecutions.list({ projectId: 'WEB' })).items).toEqual([]);
    const { structuredContent } = await ask(['src']);
    expect(structuredContent).toMatchObject({
      execution: { state: 'leased' },
      lock: { resources: ['src'], executionId: (structuredContent['execution'] as { id: string }).id },
    });
  });

  it('says why there is none', async () => {
    const { robo, api } = await createTestBoard();
    await api.stories.update({ storyId: 'WEB-1', blockedBy: ['WEB-2'] });
    await startWork(robo.me.token, { storyId: 'WEB-2' });
    const { isError, structuredContent } = await next(robo.me.token, { projectId: 'WEB', runId: 'run-2' });
    expect([isError, structuredContent['execution'], structuredContent['context']]).toEqual([
      ...[undefined, null, undefined],
    ]);
    expect(structuredContent['skipped']).toMatchObject([
      { key: 'WEB-1', reasons: ['blocked_by'] },
      { key: 'WEB-2', reasons: ['lease_held'] },
    ]);
  });

  it('waits until there is a story', async () => {
    const { robo, ben, api } = await createTestBoard();
    for (const storyId of ['WEB-1', 'WEB-2']) await startWork(ben.me.token, { storyId });
    const waiting = next(robo.me.token, { projectId: 'WEB', runId: 'run-1', waitSeconds: 25 });
    const { story } = await api.stories.create({ projectId: 'WEB', title: 'New', status: 'ready' });
    expect((await waiting).structuredContent).toMatchObject({
      execution: { targetId: story.id },
      context: { story: { title: 'New' } },
    });
  });

  it('is about the project of the connection, and no other', async () => {
    const { robo, api } = await createTestBoard();
    await api.projects.create({ key: 'APP', name: 'App' });
    const query = '?mode=core&project=WEB';
    const elsewhere = await next(robo.me.token, { projectId: 'APP', runId: 'run-1' }, query);
    expect(errorOf(elsewhere)?.details?.reason).toBe('narrowed');
    const here = await next(robo.me.token, { runId: 'run-1' }, query);
    expect(here.structuredContent['context']).toMatchObject({ story: { key: 'WEB-1' } });
    const { body } = await gateway.rpc(robo.me.token, 'tools/list', {}, { query });
    const tools = body.result?.['tools'] as { name: string; inputSchema: { properties: object } }[];
    const shown = tools.find(({ name }) => name === 'next_work')?.inputSchema.properties ?? {};
    expect(Object.keys(shown)).toEqual(['labels', 'runId', 'waitSeconds', 'resources', 'assignedToMe']);
  });
});

describe('submit_work', () => {
  it('without a branch writes nothing, and says what to give', async () => {
    const { robo, api } = await createTestBoard();
    const held = await startWork(robo.me.token);
    await tool(robo.me.token, 'deliveryExecutions_checkpoint', { ...held, ...validCheckpoint });
    const refused = await tool(robo.me.token, 'submit_work', { ...held, summary: 'All' });
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'branch_required' },
      hint: expect.stringContaining('branch'),
    });
    expect(await checkpointOf(api, held)).toMatchObject({ seq: 1, ...validCheckpoint });
    const done = await tool(robo.me.token, 'submit_work', { ...held, summary: 'All', branch: 'web-1' });
    expect(done.structuredContent).toMatchObject({
      execution: { state: 'submitted', checkpoint: { seq: 2 } },
    });
    expect((await api.deliveryExecutions.get({ executionId: held.executionId })).execution).toMatchObject({
      ...{ state: 'submitted', git: { branch: 'web-1' }, checkpoint: { summary: 'All' } },
    });
  });

  it('leaves the checkpoint as it was where the end is refused', async () => {
    const { robo, api } = await createTestBoard();
    await api.policy.update({ agentsMayComplete: false });
    const held = await startWork(robo.me.token);
    await tool(robo.me.token, 'deliveryExecutions_checkpoint', { ...held, ...validCheckpoint });
    const refused = await tool(robo.me.token, 'submit_work', {
      ...held,
      summary: 'All',
      outcome: 'succeeded',
    });
    expect(Object.keys(refused.structuredContent)).toEqual(['error']);
    expect(errorOf(refused)?.details?.reason).toBe('policy');
    expect(await checkpointOf(api, held)).toMatchObject(validCheckpoint);
  });

  it('answers again what it answered, where the answer was lost', async () => {
    const { robo } = await createTestBoard();
    const held = await startWork(robo.me.token);
    const args = { ...held, summary: 'All', branch: 'web-1' };
    const answers = [
      await tool(robo.me.token, 'submit_work', args),
      await tool(robo.me.token, 'submit_work', args),
    ];
    for (const { structuredContent } of answers)
      expect(structuredContent).toMatchObject({ execution: { state: 'submitted' } });
    const released = await tool(robo.me.token, 'release_work', held);
    expect(errorOf(released)?.details?.reason).toBe('stale_lease');
  });
});

describe('after submit_work', () => {
  const submit = (token: string, held: object) =>
    tool(token, 'submit_work', { ...held, summary: 'All', branch: 'web-1' });

  it('wait_for with the old lease says how to wait for the verdict', async () => {
    const { robo } = await createTestBoard();
    const held = await startWork(robo.me.token);
    expect((await submit(robo.me.token, held)).structuredContent).not.toHaveProperty('warnings');
    const refused = await tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 0 });
    expect(errorOf(refused)).toMatchObject({
      details: { reason: 'stale_lease' },
      hint: expect.stringContaining('was submitted; call wait_for without executionId and leaseToken'),
    });
  });

  it('wait_for with the old lease of work that was released says to stop', async () => {
    const { robo } = await createTestBoard();
    const held = await startWork(robo.me.token);
    await tool(robo.me.token, 'release_work', held);
    const refused = await tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 0 });
    expect(errorOf(refused)).toMatchObject({ hint: expect.stringContaining('stop this work') });
  });

  it('a question that is still open is named', async () => {
    const { robo } = await createTestBoard();
    const held = await startWork(robo.me.token);
    await tool(robo.me.token, 'ask_question', { ...held, question: 'Which colour?' });
    expect((await submit(robo.me.token, held)).structuredContent).toMatchObject({
      execution: { state: 'submitted' },
      warnings: [{ code: 'open_question', message: expect.stringMatching(/^Questions .* open: 1\./) }],
    });
  });
});

describe('hand_off_work', () => {
  it.each([
    ['no member', { toMemberId: nobody }, 'not_found'],
    ['no agent', { toAgentId: nobody }, 'not_found'],
    ['two', { toMemberId: nobody, toAgentId: nobody }, 'invalid_params'],
    ['none', {}, 'invalid_params'],
  ])('to %s leaves the checkpoint as it was', async (_whom, to, reason) => {
    const { robo, api } = await createTestBoard();
    const held = await startWork(robo.me.token);
    await tool(robo.me.token, 'deliveryExecutions_checkpoint', { ...held, ...validCheckpoint });
    const refused = await tool(robo.me.token, 'hand_off_work', { ...held, summary: 'Take it', ...to });
    expect(errorOf(refused)?.details?.reason).toBe(reason);
    const stands = await checkpointOf(api, held);
    expect(stands).toMatchObject(validCheckpoint);
    // The macro checks everything that it can before its first write. It cannot check whether an agent
    // exists.
    if (!('toAgentId' in to) || reason === 'invalid_params') expect(stands?.seq).toBe(1);
  });
});

describe('a question', () => {
  it('is asked and waited for by two calls of the core, and the wait ends with its answer', async () => {
    const { robo, ana, api } = await createTestBoard();
    const held = await startWork(robo.me.token);
    const asked = await tool(robo.me.token, 'ask_question', {
      ...held,
      ...{ question: 'Which colour?', directedTo: ana.me.memberId },
    });
    const { comment } = asked.structuredContent as unknown as { comment: { id: string } };
    expect(asked.structuredContent).toMatchObject({
      comment: { kind: 'question' },
      execution: { state: 'waiting_input', waitingFor: { questionId: comment.id } },
    });
    const none = await tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 0 });
    expect(none.structuredContent).toMatchObject({ signals: [] });
    // 300 s is longer than the limit: the call waits for at most 25 s.
    const waiting = tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 300 });
    await api.comments.create({ storyId: 'WEB-1', parentId: comment.id, body: 'Blue' });
    await api.comments.resolve({ commentId: comment.id });
    // The reply to the question is a separate signal, and may arrive before the signal that the question was
    // answered.
    let heard = (await waiting).structuredContent['signals'] as Signal[];
    if (!heard.some(({ kind }) => kind === 'question_answered'))
      heard = (await tool(robo.me.token, 'wait_for', { ...held, waitSeconds: 25 })).structuredContent[
        'signals'
      ] as Signal[];
    expect(heard.find(({ kind }) => kind === 'question_answered')?.data).toMatchObject({
      commentId: comment.id,
      question: 'Which colour?',
      answer: { body: 'Blue', author: { name: 'Ana' } },
    });
  });

  it('is not left open where nobody would wait for it', async () => {
    const { robo, api } = await createTestBoard();
    const held = await startWork(robo.me.token);
    const refused = await tool(robo.me.token, 'ask_question', {
      ...held,
      leaseToken: `${held.leaseToken.slice(0, -4)}0000`,
      question: 'Who?',
    });
    expect(errorOf(refused)?.details?.reason).toBe('stale_lease');
    expect((await api.comments.list({ storyId: 'WEB-1' })).items).toEqual([]);
  });
});

it('release_work lets others take it up', async () => {
  const { robo, ben } = await createTestBoard();
  const held = await startWork(robo.me.token, { resources: ['src/**'] });
  const released = await tool(robo.me.token, 'release_work', { ...held, reason: 'Something else is urgent' });
  expect(released.structuredContent).toMatchObject({ execution: { state: 'available' } });
  expect(released.structuredContent['execution']).not.toHaveProperty('lease');
  await startWork(ben.me.token, { resources: ['src/**'] });
});

it('an operation outside of the core is refused with the way to it', async () => {
  const { robo } = await createTestBoard();
  const { body } = await gateway.rpc(robo.me.token, 'tools/call', { name: 'deliveryExecutions_renew' }, core);
  expect(body.error?.message).toContain('call_write_operation, as deliveryExecutions.renew');
});

describe('what a call cannot find', () => {
  it.each([
    ['stories_get', { storyId: 'WEB-99' }, 'storyId'],
    ['comments_list', { storyId: nobody }, 'storyId'],
    ['members_profile', { memberId: nobody }, 'memberId'],
    ['start_work', { storyId: 'WEB-99', resources: ['src/**'] }, 'storyId'],
    // The call has several references. The missing record is the one that the authorization check loads.
    ['assignments_set', { targetType: 'story', targetId: 'WEB-99', memberId: nobody }, 'targetId'],
  ])('is named by its path: %s %j', async (name, args, path) => {
    const { robo } = await createTestBoard();
    const error = errorOf(await gateway.tool(robo.me.token, name, args));
    expect([error?.code, error?.details]).toEqual(['not_found', expect.objectContaining({ path })]);
    expect(error?.hint).toContain(path);
  });
});

describe('arguments', () => {
  it.each([
    ['none, as null', null],
    ['JSON text', '{"memberId": null}'],
  ])('that are %s are taken as they are meant', async (_what, args) => {
    const { robo } = await createTestBoard();
    const call = { name: 'members_profile', arguments: args };
    const { body } = await gateway.rpc(robo.me.token, 'tools/call', call);
    expect(body.result).toMatchObject({ structuredContent: { member: expect.anything() } });
  });

  it('leave alone what a strict client sends as null, and empty what is named', async () => {
    const { robo, api } = await createTestBoard();
    await api.stories.update({ storyId: 'WEB-1', description: 'Kept', estimate: 3 });
    const nulls = { description: null, epicId: null, estimate: null, blocked: null, labels: null };
    await tool(robo.me.token, 'call_write_operation', {
      operation: 'stories.update',
      params: JSON.stringify({ storyId: 'WEB-1', title: 'Renamed', ...nulls }),
    });
    const read = async () => (await api.stories.get({ storyId: 'WEB-1' })).story;
    expect(await read()).toMatchObject({ title: 'Renamed', description: 'Kept', estimate: 3 });
    await gateway.tool(robo.me.token, 'stories_update', { storyId: 'WEB-1', clear: ['estimate'] });
    expect(await read()).toMatchObject({ description: 'Kept', estimate: null });
  });
});

describe('two copies and a program that numbers its only call alike', () => {
  let other: Gateway | undefined;
  let otherUrl = '';
  afterAll(async () => {
    await other?.httpService.stop();
    await other?.close();
  });

  /** Calls the tool on the other gateway process. */
  async function there(token: string, name: string, args: object): Promise<Record<string, unknown>> {
    if (other === undefined) {
      const config = readConfig({ HOST: '127.0.0.1', COORDINATION_API_URL: gateway.apiUrl() });
      other = await createGateway(config, pino({ level: 'error' }));
      otherUrl = await other.httpService.app.listen({ host: '127.0.0.1', port: 0 });
    }
    const response = await fetch(`${otherUrl}/api/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    return ((await response.json()) as { result: Record<string, unknown> }).result;
  }
  const here = async (token: string, name: string, args: object) =>
    (await gateway.rpc(token, 'tools/call', { name, arguments: args }, { id: 1 })).body.result;

  it.each([
    ['deliveryExecutions_renew', {}],
    ['deliveryExecutions_update', { progress: 40 }],
    ['deliveryExecutions_checkpoint', validCheckpoint],
  ])('hears of a stop by %s, which reaches the API each time', async (name, more) => {
    const { robo, api } = await createTestBoard();
    const held = await startWork(robo.me.token);
    const args = { ...held, ...more };
    expect(await here(robo.me.token, name, args)).toMatchObject({ structuredContent: { signals: [] } });
    await api.deliveryExecutions.update({ executionId: held.executionId, requestStop: true });
    expect(await there(robo.me.token, name, args)).toMatchObject({
      structuredContent: { signals: [{ kind: 'stop_requested' }] },
    });
  });

  it('is told that a comment is one that it wrote before, where the two are taken for one', async () => {
    const { robo, api } = await createTestBoard();
    const comment = { storyId: 'WEB-1', body: 'Looks good' };
    // If a new minute begins between both calls, the second call creates a second comment.
    const [first, second] = [
      await here(robo.me.token, 'comments_create', comment),
      await there(robo.me.token, 'comments_create', comment),
    ];
    const replayed = (result: Record<string, unknown> | undefined) =>
      (result?.['_meta'] as Record<string, unknown>)['muster/replayed'];
    expect(replayed(first)).toBeUndefined();
    const written = (await api.comments.list({ storyId: 'WEB-1' })).items.length;
    const isOne = written === 1;
    expect([(second['structuredContent'] as Record<string, unknown>)['replayed'], replayed(second)]).toEqual(
      isOne ? [true, true] : [undefined, undefined],
    );
  });

  it('is told so for a key of its own, too', async () => {
    const { robo } = await createTestBoard();
    const call = { name: 'comments_create', arguments: { storyId: 'WEB-1', body: 'Looks good' } };
    const meta = { 'muster/idempotencyKey': 'mine' };
    await gateway.rpc(robo.me.token, 'tools/call', call, { meta });
    const { body } = await gateway.rpc(robo.me.token, 'tools/call', call, { meta });
    expect(body.result).toMatchObject({
      structuredContent: { replayed: true },
      _meta: { 'muster/replayed': true },
    });
  });
});
