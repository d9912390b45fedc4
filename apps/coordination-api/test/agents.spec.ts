/** Runs that agents report, and active runs with the leases that they hold. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { activeRuns, expireLeases, createOrgWithStory, runRef, target } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;

beforeEach(async () => {
  people = await createOrgWithStory(api);
});

const listActiveRuns = (who: Person<AllHandlers> = people.dan) => activeRuns(who);
const said = async (kinds: readonly string[]) =>
  (await people.ana.activity.list({ limit: 200 })).items
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, data }) => [kind, data['runId']]);

const expire = () => expireLeases(api, people.orgId);

describe('agents.runEvent', () => {
  it('begins a run with its first event, goes on with the next, and ends it', async () => {
    const { robo, chloe } = people;
    const { run: begun } = await robo.agents.runEvent({
      ...runRef,
      kind: 'started',
      storyId: 'WEB-1',
      message: 'Here I go',
      data: { model: 'large' },
    });
    expect(begun).toMatchObject({
      runId: 'run-1',
      agentId: robo.me.agentId,
      member: { id: chloe.me.memberId, name: 'Chloé' },
      storyId: expect.any(String),
      executionId: null,
      state: 'running',
      lastEvent: { kind: 'started', message: 'Here I go', data: { model: 'large' } },
      endedAt: null,
    });
    expect(begun.startedAt).toBe(begun.lastSeenAt);
    await robo.agents.runEvent({ ...runRef, kind: 'heartbeat' });
    const { run: waiting } = await robo.agents.runEvent({
      ...runRef,
      kind: 'waiting',
      message: 'Which one?',
    });
    expect(waiting).toMatchObject({ state: 'waiting', storyId: begun.storyId, startedAt: begun.startedAt });
    const { run: ended } = await robo.agents.runEvent({ ...runRef, kind: 'completed' });
    expect(ended).toMatchObject({ state: 'completed', endedAt: ended.lastSeenAt });
    expect(await said(['run.started', 'run.completed'])).toEqual([
      ['run.completed', 'run-1'],
      ['run.started', 'run-1'],
    ]);
  });

  it('begins a run with an event of any kind, whose start got lost', async () => {
    for (const kind of ['heartbeat', 'progress', 'message', 'tool_call', 'waiting', 'failed'] as const) {
      const { run: begun } = await people.chloe.agents.runEvent({ projectId: 'WEB', runId: kind, kind });
      expect([kind, begun.lastEvent.kind, begun.agentId]).toEqual([kind, kind, null]);
    }
    expect(await said(['run.failed'])).toEqual([['run.failed', 'failed']]);
  });

  it('accepts after the end only the same end again, which changes nothing', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'progress', dedupeKey: 'p1' });
    const { run: ended } = await people.robo.agents.runEvent({
      ...runRef,
      kind: 'failed',
      message: 'No luck',
    });
    const again = await people.robo.agents.runEvent({ ...runRef, kind: 'failed', message: 'Really' });
    expect(again.run).toEqual(ended);
    // An event with a deduplication key that was used before changes nothing either.
    expect((await people.robo.agents.runEvent({ ...runRef, kind: 'progress', dedupeKey: 'p1' })).run).toEqual(
      ended,
    );
    for (const kind of ['started', 'heartbeat', 'completed', 'canceled'] as const)
      await expect(people.robo.agents.runEvent({ ...runRef, kind })).rejects.toMatchObject({
        status: 409,
        body: { code: 'conflict', details: { reason: 'run_ended', state: 'failed', endedAt: ended.endedAt } },
      });
    expect(await said(['run.failed'])).toEqual([['run.failed', 'run-1']]);
  });

  it('counts a dedupeKey once, also when all come at the same time', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    const before = await people.robo.agents.runEvent({ ...runRef, kind: 'waiting', dedupeKey: 'w' });
    await people.robo.agents.runEvent({ ...runRef, kind: 'progress', dedupeKey: 'p' });
    const again = await people.robo.agents.runEvent({ ...runRef, kind: 'waiting', dedupeKey: 'w' });
    expect([before.run.state, again.run.state]).toEqual(['waiting', 'running']);
    const [row] = await api.world.rows<{ id: string }>(
      'select id from agent_runs where org_id = $1',
      people.orgId,
    );
    const send = (message: string) => () =>
      people.robo.agents.runEvent({ ...runRef, kind: 'message', message, dedupeKey: 'same' });
    const outcomes = await api.world.runUnderContention(
      { table: 'agent_runs', id: row?.id ?? '' },
      send('one'),
      send('two'),
      send('three'),
    );
    const messages = outcomes.map((outcome): unknown =>
      outcome.status === 'fulfilled' ? outcome.value.run.lastEvent.message : outcome.reason,
    );
    expect(new Set(messages).size).toBe(1);
  });

  it('remembers the newest hundred keys and no more', async () => {
    for (let key = 0; key <= 100; key += 1)
      await people.robo.agents.runEvent({ ...runRef, kind: 'heartbeat', dedupeKey: `${key}` });
    const [row] = await api.world.rows<{ keys: number }>(
      'select cardinality(recent_keys) as keys from agent_runs where org_id = $1',
      people.orgId,
    );
    expect(row?.keys).toBe(100);
    const { run: known } = await people.robo.agents.runEvent({ ...runRef, kind: 'waiting', dedupeKey: '1' });
    expect(known.state).toBe('running');
    const { run: forgotten } = await people.robo.agents.runEvent({
      ...runRef,
      kind: 'waiting',
      dedupeKey: '0',
    });
    expect(forgotten.state).toBe('waiting');
  });

  it('begins one run however many first events come at once', async () => {
    const kinds = ['started', 'heartbeat', 'progress', 'message', 'tool_call'] as const;
    await Promise.all(kinds.map((kind) => people.robo.agents.runEvent({ ...runRef, kind })));
    expect(await said(['run.started'])).toEqual([['run.started', 'run-1']]);
    expect(await listActiveRuns()).toHaveLength(1);
  });

  it('lets nobody speak for the run of another, or for an agent of another', async () => {
    const { robo, chloe, ben } = people;
    await robo.agents.runEvent({ ...runRef, kind: 'started' });
    const notOwn = { status: 403, body: { details: { reason: 'not_own_run' } } };
    await expect(ben.agents.runEvent({ ...runRef, kind: 'completed' })).rejects.toMatchObject(notOwn);
    await expect(chloe.agents.runEvent({ ...runRef, kind: 'completed' })).rejects.toMatchObject(notOwn);
    const agentId = robo.me.agentId ?? '';
    const forRobo = await chloe.agents.runEvent({ ...runRef, kind: 'progress', agentId });
    expect(forRobo.run).toMatchObject({ agentId, state: 'running' });
    const notOwnAgent = { status: 403, body: { details: { reason: 'not_own_agent' } } };
    await expect(ben.agents.runEvent({ ...runRef, kind: 'progress', agentId })).rejects.toMatchObject(
      notOwnAgent,
    );
    await expect(
      ben.agents.runEvent({ ...runRef, runId: 'another', kind: 'progress', agentId }),
    ).rejects.toMatchObject(notOwnAgent);
    await expect(
      robo.agents.runEvent({ ...runRef, kind: 'progress', agentId: newId() }),
    ).rejects.toMatchObject(notOwnAgent);
    await expect(
      chloe.agents.runEvent({ ...runRef, runId: 'another', kind: 'progress', agentId: newId() }),
    ).rejects.toMatchObject({ status: 404 });
    expect(await listActiveRuns()).toHaveLength(1);
  });

  it('is of one project, and so is what it names', async () => {
    const { ana, chloe, dan } = people;
    await ana.projects.create({ key: 'DOCS', name: 'Docs' });
    await ana.projects.create({ key: 'SECRET', name: 'Secret', visibility: 'private' });
    for (const projectId of ['DOCS', 'SECRET']) await ana.stories.create({ projectId, title: 'Elsewhere' });
    const acquired = async (targetId: string) =>
      (await ana.deliveryExecutions.acquire({ targetType: 'story', targetId })).execution.id;
    const send = (named: { storyId?: string; executionId?: string }) =>
      chloe.agents.runEvent({ ...runRef, kind: 'progress', ...named });
    const mismatched = { status: 422, reason: 'mismatched_project' };
    await expect(send({ storyId: 'DOCS-1' })).rejects.toMatchObject(mismatched);
    await expect(send({ executionId: await acquired('DOCS-1') })).rejects.toMatchObject(mismatched);
    for (const named of [
      { storyId: 'SECRET-1' },
      { storyId: 'WEB-99' },
      { executionId: await acquired('SECRET-1') },
      { executionId: newId() },
    ])
      await expect(send(named)).rejects.toMatchObject({ status: 404 });
    await expect(dan.agents.runEvent({ ...runRef, kind: 'progress' })).rejects.toMatchObject({ status: 403 });
    expect(await said(['run.started'])).toEqual([]);
    // A run ID that occurs in two projects identifies two separate runs.
    await chloe.agents.runEvent({ ...runRef, kind: 'started' });
    await ana.agents.runEvent({ ...runRef, projectId: 'DOCS', kind: 'started' });
  });

  it('refuses what does not fit', async () => {
    for (const wrong of [
      { kind: 'begun' },
      { kind: 'progress', runId: '' },
      { kind: 'progress', message: 'x'.repeat(2001) },
      { kind: 'progress', data: { text: 'x'.repeat(16 * 1024) } },
      { kind: 'progress', data: [] },
      { kind: 'progress', dedupeKey: '' },
    ])
      expect((await api.call(people.chloe.me.token, 'agents.runEvent', { ...runRef, ...wrong })).status).toBe(
        400,
      );
  });
});

describe('a run and the work that it holds', () => {
  const acquire = (who: Person<AllHandlers>, runId: string, takeOver = false) =>
    who.deliveryExecutions.acquire({ ...target, runId, takeOver });
  const stateOf = async (runId: string) =>
    (
      await api.world.rows<{ state: string; kind: string; execution_id: string | null }>(
        `select state, last_event ->> 'kind' as kind, execution_id from agent_runs where org_id = $1 and run_id = $2`,
        people.orgId,
        runId,
      )
    )[0];

  it('are tied, whichever came first', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    const { execution } = await acquire(people.robo, 'run-1');
    const { run: after } = await people.robo.agents.runEvent({ ...runRef, kind: 'heartbeat' });
    expect([after.executionId, after.storyId]).toEqual([execution.id, execution.targetId]);
    await acquire(people.ben, 'run-2', true);
    const { run: later } = await people.ben.agents.runEvent({ ...runRef, runId: 'run-2', kind: 'started' });
    expect([later.executionId, later.storyId]).toEqual([execution.id, execution.targetId]);
  });

  it('part when it is taken over: the run that it was taken from is canceled', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    const { execution } = await acquire(people.robo, 'run-1');
    await people.ben.agents.runEvent({ ...runRef, runId: 'run-2', kind: 'started' });
    await acquire(people.ben, 'run-2', true);
    expect(await stateOf('run-1')).toEqual({
      state: 'canceled',
      kind: 'canceled',
      execution_id: execution.id,
    });
    expect(await stateOf('run-2')).toMatchObject({ state: 'running', execution_id: execution.id });
    await expect(people.robo.agents.runEvent({ ...runRef, kind: 'heartbeat' })).rejects.toMatchObject({
      reason: 'run_ended',
    });
    expect((await listActiveRuns()).map(({ runId }) => runId)).toEqual(['run-2']);
  });

  it.each([
    ['submitted', 'completed'],
    ['succeeded', 'completed'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ] as const)('end together: %s ends it as %s', async (outcome, state) => {
    const { execution, leaseToken } = await acquire(people.robo, 'run-1');
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    await people.chloe.agents.runEvent({ ...runRef, runId: 'other', kind: 'started', storyId: 'WEB-1' });
    const pullRequest = { number: 7, url: 'https://example.com/7' };
    const { id: executionId } = execution;
    await people.robo.deliveryExecutions.complete({ executionId, leaseToken, outcome, pullRequest });
    expect(await stateOf('run-1')).toMatchObject({ state });
    expect(await stateOf('other')).toMatchObject({ state: 'running' });
    // A report of the state that the run already has is accepted as a repetition.
    expect((await people.robo.agents.runEvent({ ...runRef, kind: state })).run.state).toBe(state);
  });

  it('survives a release and an expiry', async () => {
    const { execution, leaseToken } = await acquire(people.robo, 'run-1');
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    await expire();
    expect((await people.robo.agents.runEvent({ ...runRef, kind: 'progress' })).run.state).toBe('running');
    await people.robo.deliveryExecutions.release({ executionId: execution.id, leaseToken });
    expect((await people.robo.agents.runEvent({ ...runRef, kind: 'progress' })).run.state).toBe('running');
    // When another holder later completes the work, the state of this run does not change.
    const next = await acquire(people.ben, 'run-2');
    await people.ben.deliveryExecutions.complete({
      executionId: execution.id,
      leaseToken: next.leaseToken,
      outcome: 'canceled',
    });
    expect(await stateOf('run-1')).toMatchObject({ state: 'running' });
  });

  it('ends with the story that is canceled or deleted', async () => {
    await acquire(people.robo, 'run-1');
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    expect(await stateOf('run-1')).toMatchObject({ state: 'canceled' });

    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
    await acquire(people.robo, 'run-2');
    await people.robo.agents.runEvent({ ...runRef, runId: 'run-2', kind: 'started' });
    await expire();
    await people.ana.stories.delete({ storyId: 'WEB-1' });
    expect(await stateOf('run-2')).toMatchObject({ state: 'canceled', execution_id: null });
  });

  it('ends with the membership', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    await people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
    expect(await stateOf('run-1')).toMatchObject({ state: 'canceled' });
    expect(await listActiveRuns(people.ana)).toEqual([]);
  });
});
