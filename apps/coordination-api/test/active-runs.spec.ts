/** Active runs, derived from reported runs and from leases. */
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

const listActiveRuns = (
  who: Person<AllHandlers> = people.dan,
  filter: { projectId?: string; agentId?: string } = {},
) => activeRuns(who, filter);
/** Moves the last report of a run, or of all runs, into the past. */
const silence = (seconds: number) =>
  api.world.rows(
    `update agent_runs set last_seen_at = last_seen_at - make_interval(secs => $2) where org_id = $1`,
    people.orgId,
    seconds,
  );
const expire = () => expireLeases(api, people.orgId);

describe('agents.listActive', () => {
  it('shows runs that have not ended, newest first', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started', storyId: 'WEB-1', message: 'Hello' });
    await people.ben.agents.runEvent({ ...runRef, runId: 'run-2', kind: 'waiting' });
    await people.ben.agents.runEvent({ ...runRef, runId: 'run-3', kind: 'canceled' });
    const [second, first] = await listActiveRuns();
    expect(first).toMatchObject({
      runId: 'run-1',
      agent: { id: people.robo.me.agentId, name: 'Robo' },
      member: { id: people.chloe.me.memberId },
      storyKey: 'WEB-1',
      executionId: null,
      state: 'running',
      lastEvent: { kind: 'started', message: 'Hello' },
    });
    expect(second).toMatchObject({ runId: 'run-2', agent: null, storyKey: null, state: 'waiting' });
    expect(await listActiveRuns(people.dan, { agentId: people.robo.me.agentId ?? '' })).toEqual([first]);
    expect(await listActiveRuns(people.dan, { projectId: 'web' })).toEqual([second, first]);
    await expect(listActiveRuns(people.dan, { projectId: 'NONE' })).rejects.toMatchObject({ status: 404 });
  });

  it('shows a silent run as stalled, then not at all, and again when it speaks', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    const states = async () => (await listActiveRuns()).map(({ state }) => state);
    await silence(80);
    expect(await states()).toEqual(['running']);
    await silence(10);
    expect(await states()).toEqual(['stalled']);
    await silence(86_400);
    expect(await states()).toEqual([]);
    await people.robo.agents.runEvent({ ...runRef, kind: 'heartbeat' });
    expect(await states()).toEqual(['running']);
  });

  it('shows no run as stalled, or forgotten, that holds a live lease', async () => {
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    const { execution } = await people.robo.deliveryExecutions.acquire({ ...target, runId: 'run-1' });
    for (const seconds of [100, 86_400]) {
      await silence(seconds);
      expect(await listActiveRuns()).toMatchObject([
        { runId: 'run-1', state: 'running', executionId: execution.id, storyKey: 'WEB-1' },
      ]);
    }
    await expire();
    expect(await listActiveRuns()).toEqual([]);
    await people.robo.agents.runEvent({ ...runRef, kind: 'progress' });
    await silence(100);
    expect(await listActiveRuns()).toMatchObject([{ runId: 'run-1', state: 'stalled' }]);
  });

  it('shows a live lease whose run sent nothing, until it does or the lease is over', async () => {
    const { execution } = await people.robo.deliveryExecutions.acquire({ ...target, runId: 'run-1' });
    const [silent] = await listActiveRuns();
    expect(silent).toMatchObject({
      runId: 'run-1',
      agent: { name: 'Robo' },
      storyKey: 'WEB-1',
      executionId: execution.id,
      state: 'running',
      lastEvent: null,
    });
    expect(silent?.lastSeenAt).toBe(silent?.startedAt);
    await people.robo.agents.runEvent({ ...runRef, kind: 'started' });
    expect(await listActiveRuns()).toMatchObject([{ runId: 'run-1', lastEvent: { kind: 'started' } }]);
    await expire();
    expect(await listActiveRuns()).toHaveLength(1);

    await people.ana.stories.create({ projectId: 'WEB', title: 'Another' });
    await people.chloe.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2' });
    expect((await listActiveRuns())[0]).toMatchObject({
      runId: null,
      agent: null,
      storyKey: 'WEB-2',
      lastEvent: null,
    });
    await expire();
    expect((await listActiveRuns()).map(({ storyKey }) => storyKey)).toEqual(['WEB-1']);
  });

  it('shows a run once that names the work which it acquired without a runId', async () => {
    const { execution } = await people.robo.deliveryExecutions.acquire(target);
    await people.robo.agents.runEvent({ ...runRef, kind: 'started', executionId: execution.id });
    await silence(100);
    expect(await listActiveRuns()).toMatchObject([
      { runId: 'run-1', state: 'running', executionId: execution.id },
    ]);
  });

  it('shows nothing of a private project to who may not see it', async () => {
    const { ana, dan } = people;
    await ana.projects.create({ key: 'SECRET', name: 'Secret', visibility: 'private' });
    await ana.stories.create({ projectId: 'SECRET', title: 'Hidden' });
    await ana.agents.runEvent({ projectId: 'SECRET', runId: 'hidden', kind: 'started' });
    await ana.deliveryExecutions.acquire({ targetType: 'story', targetId: 'SECRET-1', runId: 'silent' });
    expect((await listActiveRuns(ana)).map(({ runId }) => runId)).toEqual(['silent', 'hidden']);
    expect(await listActiveRuns(dan)).toEqual([]);
    await expect(listActiveRuns(dan, { projectId: 'SECRET' })).rejects.toMatchObject({ status: 404 });
  });

  it('pages through all of them, each once', async () => {
    const runIds = Array.from({ length: 5 }, (_, index) => `run-${index}`);
    for (const runId of runIds)
      await people.robo.agents.runEvent({ projectId: 'WEB', runId, kind: 'started' });
    await people.chloe.deliveryExecutions.acquire({ ...target, runId: 'silent' });
    // Sets equal start times, so that only the keys determine the order.
    await api.world.rows('update agent_runs set started_at = now() where org_id = $1', people.orgId);
    const seen: (string | null)[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Person<AllHandlers>['agents']['listActive']>> =
        await people.dan.agents.listActive({
          limit: 2,
          ...(cursor !== null && { cursor }),
        });
      seen.push(...page.items.map(({ runId }) => runId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect([...seen].sort()).toEqual([...runIds, 'silent'].sort());
  });
});

it('an event of an agent that is not there names it', async () => {
  const event = { ...runRef, kind: 'started', agentId: newId() } as const;
  await expect(people.chloe.agents.runEvent(event)).rejects.toMatchObject({
    status: 404,
    body: { details: { path: 'agentId' } },
  });
});
