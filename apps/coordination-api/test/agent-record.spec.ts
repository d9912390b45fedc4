/** The record of agents: what others decided about their work, and what the agents cannot improve themselves. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AgentRecord } from '@muster/registry';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People;
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
type Held = Awaited<ReturnType<typeof acquire>>;

const submit = async (held: Held, nth: number) => {
  await people.robo.deliveryExecutions.update({ ...held, git: { branch: `work/${nth}` } });
  await people.robo.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
};
const review = (reviewer: People['ben'], nth: number, verdict: 'approved' | 'changes_requested') =>
  reviewer.reviewers.setVerdict({ storyId: stories[nth] ?? '', verdict, note: 'See the code.' });
const readRecord = async (groupBy: 'agent' | 'model' | 'prompt' = 'agent', more: object = {}) =>
  (await people.dan.agents.record({ groupBy, projectId: 'WEB', ...more })).items;
const onlyRecord = async (): Promise<Partial<AgentRecord>> => (await readRecord())[0] ?? {};

describe('the record of an agent', () => {
  it('counts what reviewers decided about its submissions', async () => {
    await submit(await acquire(0), 0);
    await review(people.ben, 0, 'approved');
    await submit(await acquire(1), 1);
    await review(people.ben, 1, 'changes_requested');
    await submit(await acquire(1), 1);
    await review(people.ben, 1, 'approved');
    await people.robo.deliveryExecutions.release(await acquire(2));
    expect(await readRecord()).toEqual([
      {
        key: { id: people.robo.me.agentId, name: 'Robo' },
        ...{ leases: 4, stalls: 0, submitted: 2, acceptedFirst: 1, submissions: 3, changesRequested: 1 },
        ...{ landed: 2, reverted: 0, costs: [] },
      },
    ]);
  });

  it('does not rise by what the agent reports or decides itself', async () => {
    const held = await acquire(0);
    await submit(held, 0);
    const before = await onlyRecord();
    expect(before).toMatchObject({ submitted: 1, acceptedFirst: 0, landed: 0 });
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
    await people.ana.stories.updateStatus({ storyId: stories[0] ?? '', status: 'done' });
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
    expect(await onlyRecord()).toMatchObject({ leases: 1, stalls: 1, landed: 1, reverted: 0 });
    await api.world.rows(
      `insert into activity (org_id, seq, id, kind, actor, story_id, subject, data)
       select $1, s.activity + 1000, $2, 'story.mergeReverted', '{}', $3, '{}', jsonb_build_object('executionId', $4::text)
       from streams s where s.org_id = $1`,
      ...[people.orgId, newId(), stories[0], held.executionId],
    );
    expect(await onlyRecord()).toMatchObject({ landed: 1, reverted: 1 });
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
    const second = await acquire(1);
    await people.robo.deliveryExecutions.renew({
      ...second,
      usage: { model: 'm-1', costMicros: 20, currency: 'EUR' },
    });
    await acquire(2);
    const whole = await readRecord('model');
    expect(whole).toMatchObject([
      {
        ...{ key: { id: 'm-1', name: 'm-1' }, leases: 2, landed: 1 },
        costs: [
          { currency: 'USD', costMicros: 400, costPerLanded: 400 },
          { currency: 'EUR', costMicros: 20, costPerLanded: 20 },
        ],
      },
      { key: { id: null, name: 'No model reported' }, leases: 1, landed: 0, costs: [] },
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
    expect((await readRecord('prompt')).map(({ key, leases }) => [key.name, leases])).toEqual([
      ['style v1', 1],
    ]);
    await people.ana.prompts.org.upsert({ ...prompt, body: 'Write shorter functions.', expectedVersion: 1 });
    expect(await readRecord('prompt')).toEqual([]);
    await acquire(1);
    expect((await readRecord('prompt')).map(({ key, leases }) => [key.name, leases])).toEqual([
      ['style v2', 1],
    ]);
    await people.ana.prompts.project.upsert({ ...prompt, projectId: 'WEB' });
    await acquire(2);
    expect((await readRecord('prompt')).map(({ key, leases }) => [key.name, leases])).toEqual([
      ['style v2', 1],
      ['style v1', 1],
    ]);
  });
});
