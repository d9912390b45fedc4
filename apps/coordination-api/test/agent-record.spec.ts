/** The record of agents: what others decided about their work, and what the agents cannot improve themselves. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AgentRecord } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;
let stories: string[];

beforeEach(async () => {
  people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  stories = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const { story } = await people.ana.stories.create({
      projectId: 'WEB',
      title: 'A story',
      status: 'ready',
    });
    await people.ana.reviewers.add({ storyId: story.id, memberId: people.ben.me.memberId });
    stories.push(story.id);
  }
});

const acquire = async (nth: number) => {
  const target = { targetType: 'story', targetId: stories[nth] ?? '' } as const;
  const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire({
    ...{ ...target, runId: `run-${nth}` },
  });
  return { executionId: execution.id, leaseToken };
};
type HeldLease = Awaited<ReturnType<typeof acquire>>;

const submit = async (held: HeldLease, nth: number) => {
  await people.robo.deliveryExecutions.update({ ...held, git: { branch: `work/${nth}` } });
  await people.robo.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
};
const review = (
  reviewer: People<AllHandlers>['ben'],
  nth: number,
  verdict: 'approved' | 'changes_requested',
) => reviewer.reviewers.setVerdict({ storyId: stories[nth] ?? '', verdict, note: 'See the code.' });
const readRecord = async (groupBy: 'agent' | 'model' | 'prompt' = 'agent', more: object = {}) =>
  (await people.dan.agents.record({ groupBy, projectId: 'WEB', ...more })).items;
const onlyRecord = async (): Promise<Partial<AgentRecord>> => (await readRecord())[0] ?? {};

const finish = async (...nths: number[]) => {
  for (const nth of nths)
    await people.ana.stories.updateStatus({ storyId: stories[nth] ?? '', status: 'done' });
};

describe('the record of an agent', () => {
  it('counts what reviewers decided about its submissions', async () => {
    await submit(await acquire(0), 0);
    await review(people.ben, 0, 'approved');
    await submit(await acquire(1), 1);
    await review(people.ben, 1, 'changes_requested');
    await submit(await acquire(1), 1);
    await review(people.ben, 1, 'approved');
    await people.robo.deliveryExecutions.release(await acquire(2));
    await finish(0, 1);
    expect(await readRecord()).toEqual([
      {
        key: { id: people.robo.me.agentId, name: 'Robo' },
        ...{ started: 3, stalled: 0, submitted: 2, sentBack: 1, submittedFirst: 2, acceptedFirst: 1 },
        ...{ landed: 2, reverted: 0, costs: [] },
      },
    ]);
  });

  it('does not rise by what the agent reports or decides itself', async () => {
    const held = await acquire(0);
    await submit(held, 0);
    const before = await onlyRecord();
    expect(before).toMatchObject({ submittedFirst: 1, acceptedFirst: 0, landed: 0 });
    const observation = { kind: 'pr_merged', number: 1, url: 'https://forge.example/web/pull/1' } as const;
    await people.robo.deliveryExecutions.recordForgeObservation({
      executionId: held.executionId,
      observation: { ...observation, dedupeKey: 'own', observedAt: new Date().toISOString() },
    });
    const { agent } = await people.chloe.agents.create({ name: 'Second' });
    await api.world.rows(
      `insert into activity (org_id, seq, id, kind, actor, member_id, agent_id, project_id, story_id, subject, data)
       select $1, s.activity + 1000, $2, 'review.decided', '{}', $3, $4, null, $5, '{}', '{"verdict": "approved"}' from streams s
       where s.org_id = $1`,
      ...[people.orgId, newId(), people.chloe.me.memberId, agent.id, stories[0]],
    );
    await finish(0);
    expect(await onlyRecord()).toEqual(before);
    await api.world.rows('update executions set merge_verified_at = now() where org_id = $1', people.orgId);
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 1 });
  });

  it('counts leases that expired, and reverted merges', async () => {
    const held = await acquire(0);
    await api.world.rows(
      `insert into execution_events (org_id, execution_id, seq, kind, actor, data)
       select $1, $2, 100, 'expired', '{}', jsonb_build_object('holder', l.holder) from leases l where l.org_id = $1 and l.unit_id = $3`,
      ...[people.orgId, held.executionId, stories[0]],
    );
    await submit(held, 0);
    await api.world.rows('update executions set merge_verified_at = now() where org_id = $1', people.orgId);
    expect(await onlyRecord()).toMatchObject({ started: 1, stalled: 1, landed: 1, reverted: 0 });
    await api.world.rows(
      `insert into activity (org_id, seq, id, kind, actor, story_id, subject, data)
       select $1, s.activity + 1000, $2, 'story.mergeReverted', '{}', $3, '{}', jsonb_build_object('executionId', $4::text)
       from streams s where s.org_id = $1`,
      ...[people.orgId, newId(), stories[0], held.executionId],
    );
    expect(await onlyRecord()).toMatchObject({ landed: 1, reverted: 1 });
  });

  it('counts a story once, however often the agent starts again', async () => {
    await submit(await acquire(0), 0);
    await review(people.ben, 0, 'changes_requested');
    const { executionId, ...held } = await acquire(0);
    await people.robo.deliveryExecutions.complete({ executionId, ...held, outcome: 'failed' });
    for (let nth = 0; nth < 2; nth += 1) await people.robo.deliveryExecutions.release(await acquire(0));
    for (let nth = 0; nth < 2; nth += 1) await submit(await acquire(0), 0);
    await review(people.ben, 0, 'approved');
    const once = { started: 1, submitted: 1, sentBack: 1, submittedFirst: 1 };
    expect(await onlyRecord()).toMatchObject({ ...once, acceptedFirst: 0 });
  });

  it('counts no submission as the first of a story that was submitted before', async () => {
    const executionId = newId().replace(/^.{13}/, '019a0000-0000');
    await api.world.rows(
      `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, created_at, completed_at)
       select $1, $2, s.project_id, 'story', s.id, 'completed', 1, '2025-10-21', '2025-10-22' from stories s where s.id = $3`,
      ...[people.orgId, executionId, stories[0]],
    );
    await api.world.rows(
      `insert into execution_events (org_id, execution_id, seq, kind, actor, at) values ($1, $2, 1, 'submitted', '{}', '2025-10-22')`,
      ...[people.orgId, executionId],
    );
    await submit(await acquire(0), 0);
    await review(people.ben, 0, 'approved');
    expect(await onlyRecord()).toMatchObject({ submitted: 1, submittedFirst: 0, acceptedFirst: 0 });
  });

  it('counts no merge of a group before the submission, or of a group that was abandoned', async () => {
    const { group } = await people.ana.deliveryGroups.create({
      ...{ projectId: 'WEB', name: 'Both', storyIds: [stories[0] ?? '', stories[1] ?? ''] },
    });
    await submit(await acquire(0), 0);
    const setMerge = (change: string) =>
      api.world.rows(
        `update executions set merge_verified_at = ${change} where org_id = $1
        and target_type = 'delivery_group'`,
        people.orgId,
      );
    await api.world.rows(
      `insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, merge_verified_at)
       select $1, $2, g.project_id, 'delivery_group', g.id, 'submitted', 1, now() - interval '1 hour'
       from delivery_groups g where g.id = $3`,
      ...[people.orgId, newId(), group.id],
    );
    expect(await onlyRecord()).toMatchObject({ submitted: 1, acceptedFirst: 0, landed: 0 });
    await setMerge('clock_timestamp()');
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 1 });
    await api.world.rows('update delivery_group_stories set open = false where org_id = $1', people.orgId);
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 0, landed: 0 });
    await api.world.rows(`update delivery_groups set state = 'landed' where org_id = $1`, people.orgId);
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 1 });
  });

  it('counts a closed pull request only if the forge verified it', async () => {
    const held = await acquire(0);
    await submit(held, 0);
    await people.chloe.deliveryExecutions.recordForgeObservation({
      executionId: held.executionId,
      observation: {
        ...{ kind: 'pr_closed', number: 1, url: 'https://forge.example/web/pull/1', dedupeKey: 'closed' },
        observedAt: new Date().toISOString(),
      },
    });
    expect(await onlyRecord()).toMatchObject({ submitted: 1, sentBack: 0 });
    const setTrust = `update execution_events set data = data || '{"trust": "verified"}' where org_id = $1 and kind = 'forge'`;
    await api.world.rows(setTrust, people.orgId);
    expect(await onlyRecord()).toMatchObject({ submitted: 1, sentBack: 1 });
  });

  it('counts neither an approval nor a request for changes that was retracted', async () => {
    const retract = (nth: number) =>
      people.ben.reviewers.setVerdict({ storyId: stories[nth] ?? '', verdict: 'pending' });
    for (const nth of [0, 1, 2]) await submit(await acquire(nth), nth);
    await review(people.ben, 0, 'approved');
    await retract(0);
    await review(people.ben, 1, 'changes_requested');
    await retract(1);
    await review(people.ben, 2, 'changes_requested');
    await review(people.ben, 2, 'approved');
    await finish(0, 1, 2);
    expect(await onlyRecord()).toMatchObject({ submitted: 3, sentBack: 1, acceptedFirst: 0, landed: 0 });
    await review(people.ben, 1, 'approved');
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 1 });
  });

  it('counts an approved story as landed once it is done', async () => {
    await submit(await acquire(0), 0);
    await review(people.ben, 0, 'approved');
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 0 });
    await finish(0);
    expect(await onlyRecord()).toMatchObject({ acceptedFirst: 1, landed: 1 });
  });

  it('leaves out people, other days, and projects that the caller may not see', async () => {
    await people.ben.deliveryExecutions.acquire({ targetType: 'story', targetId: stories[1] ?? '' });
    await acquire(0);
    expect(await readRecord()).toHaveLength(1);
    const early = { from: '2025-01-01T00:00:00.000Z', to: '2025-02-01T00:00:00.000Z' };
    expect(await readRecord('agent', early)).toEqual([]);
    await expect(readRecord('agent', { from: '2020-01-01T00:00:00.000Z' })).rejects.toMatchObject({
      status: 400,
    });
    const { project: operations } = await people.ana.projects.create({ key: 'OPS', name: 'Operations' });
    const projectIds = [operations.id];
    const bound = await api.world.token(people.orgId, people.ana.me.memberId, { projectIds });
    await expect(bound.agents.record({ groupBy: 'agent', projectId: 'WEB' })).rejects.toMatchObject({
      status: 404,
    });
    expect((await bound.agents.record({ groupBy: 'agent' })).items).toEqual([]);
  });
});

describe('the record of a model', () => {
  it('has the costs of landed stories, by the model that cost most', async () => {
    const first = await acquire(0);
    const usage = { model: 'm-1', costMicros: 300 };
    await people.robo.deliveryExecutions.renew({ ...first, usage });
    await people.robo.deliveryExecutions.renew({ ...first, usage: { model: 'm-2', costMicros: 100 } });
    await submit(first, 0);
    await review(people.ben, 0, 'approved');
    await finish(0);
    const second = await acquire(1);
    await people.robo.deliveryExecutions.renew({
      ...second,
      usage: { model: 'm-1', costMicros: 20, currency: 'EUR' },
    });
    await acquire(2);
    const whole = await readRecord('model');
    expect(whole).toMatchObject([
      {
        ...{ key: { id: 'm-1', name: 'm-1' }, started: 2, landed: 1 },
        costs: [
          { currency: 'USD', costMicros: 400, costPerLanded: 400 },
          { currency: 'EUR', costMicros: 20, costPerLanded: 20 },
        ],
      },
      { key: { id: null, name: 'No model reported' }, started: 1, landed: 0, costs: [] },
    ]);
    const page = await people.dan.agents.record({ groupBy: 'model', limit: 1 });
    const rest = await people.dan.agents.record({ groupBy: 'model', cursor: page.nextCursor ?? '' });
    expect([...page.items, ...rest.items]).toEqual(whole);
  });
});

describe('the record of a prompt', () => {
  it('counts the work that began after its last change, unless the project has its own', async () => {
    const prompt = { slug: 'style', title: 'Style', body: 'Write short functions.' };
    await people.ana.prompts.org.upsert(prompt);
    await acquire(0);
    expect((await readRecord('prompt')).map(({ key, started }) => [key.name, started])).toEqual([
      ['style v1', 1],
    ]);
    await people.ana.prompts.org.upsert({ ...prompt, body: 'Write shorter functions.', expectedVersion: 1 });
    expect(await readRecord('prompt')).toEqual([]);
    await acquire(1);
    expect((await readRecord('prompt')).map(({ key, started }) => [key.name, started])).toEqual([
      ['style v2', 1],
    ]);
    await people.ana.prompts.project.upsert({ ...prompt, projectId: 'WEB' });
    await acquire(2);
    expect((await readRecord('prompt')).map(({ key, started }) => [key.name, started])).toEqual([
      ['style v2', 1],
      ['style v1', 1],
    ]);
  });
});
