import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: PeopleOf<typeof world>;
let storyId: string | undefined;
let held: { executionId: string; leaseToken: string };

beforeEach(async () => {
  ({
    people,
    stories: [storyId],
  } = await arrangeStories(world));
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: 'WEB-1',
    phase: 'planning',
  });
  held = { executionId: execution.id, leaseToken };
});

const code = { headSha: 'abcd', diffHash: 'one' };
const codeOf = async () =>
  (await world.rows<{ code: object }>('select code from stories where id = $1', storyId))[0]?.code;

it('leaves what is missing as it is, and clears what is null', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const said = { phase: 'testing', progress: 40, git: { branch: 'login', ...code } } as const;
  await api.update({ ...held, ...said });
  expect((await api.update(held)).execution).toMatchObject(said);
  expect((await api.update({ ...held, phase: null })).execution).toMatchObject({ ...said, phase: null });
  expect((await api.update({ ...held, progress: null })).execution).toMatchObject({ progress: 0 });

  expect(await codeOf()).toMatchObject(code);
  expect((await api.update({ ...held, git: null })).execution.git).toBeNull();
  expect(await codeOf()).toMatchObject({ headSha: null, diffHash: null });
});

it('says in the stream what was cleared', async () => {
  const { deliveryExecutions: api } = people.chloe;
  await api.update({ ...held, progress: 40, git: { branch: 'login' } });
  await api.update({ ...held, phase: null, progress: null, git: null });
  const { items } = await api.eventsSince({ executionId: held.executionId, afterSeq: 2 });
  expect(items).toMatchObject([
    { kind: 'updated', data: { fields: ['phase', 'progress', 'git'], phase: null, progress: 0 } },
  ]);
});

/** Reads the records that an update writes: the execution, its stream and the activity. */
const traces = async () => {
  const { executionId } = held;
  const { execution } = await people.dan.deliveryExecutions.get({ executionId });
  const { items } = await people.dan.deliveryExecutions.eventsSince({ executionId });
  const activity = await world.rows<{ data: { fields: string[] } }>(
    `select data from activity where org_id = $1 and kind = 'execution.updated' order by seq`,
    people.orgId,
  );
  return {
    version: execution.version,
    updatedAt: execution.updatedAt,
    events: items.map(({ kind }) => kind),
    activity: activity.map(({ data }) => data.fields),
  };
};

/** Inserts the question by SQL, since this test world has no comments. */
async function askQuestion(): Promise<string> {
  const questionId = newId();
  await world.rows(
    `insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
     values ($1, $2, $3, 'question', 'Which?', $4, $5)`,
    people.orgId,
    questionId,
    storyId,
    { kind: 'member', memberId: people.ana.me.memberId, agentId: null, name: 'Ana' },
    people.ana.me.memberId,
  );
  return questionId;
}

it('makes no version and no event of what stands already, renews the lease, and tells what others did', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const waitingFor = { questionId: await askQuestion() };
  const git = { branch: 'login', ...code };
  const first = await api.update({ ...held, phase: 'testing', progress: 5, git, waitingFor });
  const before = await traces();
  const again = [
    { progress: 5 },
    { phase: 'testing' as const, git: { branch: 'login' } },
    { git, waitingFor },
  ];
  for (const said of again) {
    await world.rows(`update leases set expires_at = now() where org_id = $1`, people.orgId);
    const { execution } = await api.update({ ...held, ...said });
    expect(execution).toEqual({ ...first.execution, lease: execution.lease });
    expect(await traces()).toEqual(before);
    // The execution was stalled while its lease was expired. After the renewal it waits for input again.
    const seen = await api.get({ executionId: held.executionId });
    expect(seen.execution.state).toBe('waiting_input');
  }

  await people.ben.deliveryExecutions.update({ executionId: held.executionId, requestStop: true });
  const { signals } = await api.update({ ...held, progress: 5 });
  expect(signals).toMatchObject([{ kind: 'stop_requested' }]);
  expect((await traces()).events).toEqual([...before.events, 'stop_requested']);
});

describe('a request to stop', () => {
  const requestStop = () =>
    people.ben.deliveryExecutions.update({ executionId: held.executionId, requestStop: true });
  const finishStory = () => world.rows(`update stories set status = 'done' where id = $1`, storyId);
  const expire = () =>
    world.rows(`update leases set expires_at = now() - interval '1 s' where org_id = $1`, people.orgId);

  it('is in force for a holder whose time is over', async () => {
    await expire();
    expect((await requestStop()).execution).toMatchObject({ state: 'stalled', stopRequested: {} });
  });

  it('stands for a holder in time, also where the story is done: the holder completes', async () => {
    await finishStory();
    expect((await requestStop()).execution).toMatchObject({ state: 'leased', stopRequested: {} });
  });

  it('ends work past its time on what is over, which no other can take any more', async () => {
    await finishStory();
    await expire();
    const again = { targetType: 'story', targetId: 'WEB-1' } as const;
    for (const who of [people.chloe, people.ben])
      await expect(who.deliveryExecutions.acquire(again)).rejects.toMatchObject({
        reason: 'invalid_transition',
      });
    const ended = { state: 'completed', outcome: 'canceled', lease: null, stopRequested: {} };
    expect((await requestStop()).execution).toMatchObject(ended);
    await expect(people.chloe.deliveryExecutions.renew(held)).rejects.toMatchObject({
      reason: 'stale_lease',
    });
  });
});

it('makes a version and an event of what changes alone, and names only that', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const first = await api.update({ ...held, phase: 'testing', progress: 5, git: { branch: 'login' } });
  const { execution } = await api.update({ ...held, phase: 'testing', progress: 6, waitingFor: null });
  expect(execution).toMatchObject({ progress: 6, version: first.execution.version + 1 });
  const { items } = await api.eventsSince({ executionId: held.executionId, afterSeq: 2 });
  expect(items.map(({ data }) => data)).toEqual([{ fields: ['progress'], progress: 6 }]);
  expect((await traces()).activity).toEqual([['phase', 'progress', 'git'], ['progress']]);
});

it('makes an event of a head that was said before, after another was told of', async () => {
  const { deliveryExecutions: api } = people.chloe;
  await api.update({ ...held, git: code });
  await world.rows(
    `update stories set code = code || '{"headSha": "ffff", "diffHash": "two"}' where id = $1`,
    storyId,
  );
  await api.update({ ...held, git: code });
  await api.update({ ...held, git: code });
  expect(await codeOf()).toMatchObject(code);
  expect((await traces()).activity).toEqual([['git'], ['git']]);
});

it('names the question where there is none of that id', async () => {
  const waiting = { ...held, waitingFor: { questionId: newId() } };
  await expect(people.chloe.deliveryExecutions.update(waiting)).rejects.toMatchObject({
    status: 404,
    body: { details: { path: 'waitingFor.questionId' } },
  });
});
