/**
 * Tests that moving a story to done completes its submitted work, unless a forge reports the merge of that
 * work.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { internalBoardHandlers } from '@muster/board';
import { internalHandlers } from '@muster/delivery';
import { newId } from '@muster/driver';
import { handlers, reactions } from '@muster/operations';
import { type PeopleOf, useWorld } from '@muster/testing';

const world = useWorld(
  { ...handlers, insideBoard: internalBoardHandlers, insideHandlers: internalHandlers },
  reactions,
);
const storyId = 'WEB-1';
const target = { targetType: 'story', targetId: storyId } as const;
let people: PeopleOf<typeof world>;
let leaseCredentials: { executionId: string; leaseToken: string };

const fetchExecution = async () =>
  (await people.ana.deliveryExecutions.get({ executionId: leaseCredentials.executionId })).execution;
const finish = (who: 'ana' | 'robo' = 'ana') => people[who].stories.updateStatus({ storyId, status: 'done' });
const completions = async () =>
  (await people.ana.activity.list({ kinds: ['execution.completed'] })).items.map(({ data }) => data);

beforeEach(async () => {
  people = await world.org();
  await people.chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  await people.chloe.stories.create({ projectId: 'WEB', title: 'Passkeys', status: 'ready' });
  const { execution, leaseToken } = await people.robo.deliveryExecutions.acquire({ ...target, start: true });
  leaseCredentials = { executionId: execution.id, leaseToken };
  await people.robo.deliveryExecutions.update({ ...leaseCredentials, git: { branch: 'topic' } });
});

const submit = () => people.robo.deliveryExecutions.complete({ ...leaseCredentials, outcome: 'submitted' });

it('completes it with the move of a person', async () => {
  await submit();
  expect((await finish()).warnings).toEqual([]);
  expect(await fetchExecution()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
  expect(await completions()).toEqual([{ executionId: leaseCredentials.executionId, outcome: 'succeeded' }]);
});

it('completes it once with a reported merge', async () => {
  await submit();
  await people.ana.deliveryExecutions.recordForgeObservation({
    executionId: leaseCredentials.executionId,
    observation: { kind: 'pr_merged', dedupeKey: 'm', observedAt: new Date().toISOString() },
  });
  expect(await fetchExecution()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
  expect(await completions()).toHaveLength(1);
});

describe('where a repository is linked', () => {
  const connectionId = newId();
  beforeEach(async () => {
    await submit();
    await world.rows(
      `with c as (insert into forge_connections (org_id, id, kind, name, base_url, secret, created_by)
       values ($1, $2, 'github', 'GitHub', 'https://github.com', 'sealed', $3) returning id)
     insert into forge_repositories (org_id, id, connection_id, project_id, url, linked_by)
     select $1, $4, c.id, (select id from projects where org_id = $1), 'https://github.com/acme/web', $3 from c`,
      people.orgId,
      connectionId,
      { kind: 'member', memberId: people.ana.me.memberId, agentId: null, name: 'Ana' },
      newId(),
    );
  });

  it('leaves it to the forge and says so', async () => {
    const { story, warnings } = await finish();
    expect(warnings).toEqual([
      {
        code: 'merge_pending',
        message: expect.stringContaining('linked repository'),
        columnId: story.columnId,
      },
    ]);
    expect(await fetchExecution()).toMatchObject({ state: 'submitted' });
  });

  it('completes it after the forge was disconnected', async () => {
    await people.ana.forges.disconnect({ connectionId });
    expect((await finish()).warnings).toEqual([]);
    expect(await fetchExecution()).toMatchObject({ state: 'completed', outcome: 'succeeded' });
  });
});

it('is refused to an agent where the policy does not let agents complete work', async () => {
  await submit();
  await people.ana.policy.update({ agentsMayComplete: false });
  await expect(finish('robo')).rejects.toMatchObject({ reason: 'policy' });
  expect(await fetchExecution()).toMatchObject({ state: 'submitted' });
});

it('warns of a live lease, which goes on', async () => {
  const { story, warnings } = await finish();
  expect(story.status).toBe('done');
  expect(warnings).toEqual([
    { code: 'lease_held', message: expect.stringContaining('holds its lease'), columnId: story.columnId },
  ]);
  expect(await fetchExecution()).toMatchObject({ state: 'leased' });
});

it('warns of a live lease on the group of the story', async () => {
  const { story } = await people.chloe.stories.create({
    projectId: 'WEB',
    title: 'Recovery',
    status: 'ready',
  });
  const { group } = await people.chloe.deliveryGroups.create({
    ...{ projectId: 'WEB', name: 'Accounts', storyIds: [story.id] },
  });
  await people.robo.deliveryExecutions.acquire({ targetType: 'delivery_group', targetId: group.id });
  const { warnings } = await people.ana.stories.updateStatus({ storyId: story.id, status: 'done' });
  expect(warnings).toMatchObject([{ code: 'lease_held', message: expect.stringContaining('Robo') }]);
});
