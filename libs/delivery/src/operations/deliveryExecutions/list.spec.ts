import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type InputOf, type ListedExecution } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { passTime } from '../../../test/locks.ts';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);

type Filter = InputOf<typeof deliveryRegistry.deliveryExecutions.list>;

let people: PeopleOf<typeof world>;
let projectId: string;
beforeEach(async () => {
  ({ people, projectId } = await arrangeStories(world, {
    count: 7,
    policy: { completeStoryOnMerge: false },
  }));
});

const listExecutions = async (who: PersonOf<typeof world>, filter: Filter = {}): Promise<ListedExecution[]> =>
  (await who.deliveryExecutions.list(filter)).items;

/** Lists the keys of the executions' stories in the order of deliveryExecutions.list. */
const listStoryKeys = async (filter: Filter, who = people.dan): Promise<(string | undefined)[]> =>
  (await listExecutions(who, filter)).map(({ story }) => story?.key);

interface HeldLease {
  readonly executionId: string;
  readonly leaseToken: string;
}

async function acquireStory(who: PersonOf<typeof world>, story: string, runId?: string): Promise<HeldLease> {
  const { execution, leaseToken } = await who.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story },
    ...(runId !== undefined && { runId }),
  });
  return { executionId: execution.id, leaseToken };
}

const pullRequest = (number: number) => ({ number, url: `https://example.com/pull/${number}` });

describe('deliveryExecutions.list', () => {
  it('leaves out what is in an archived project, as does the list of runs, unless it is named', async () => {
    const { chloe, dan, orgId } = people;
    await acquireStory(chloe, 'WEB-1', 'run-1');
    const found = async (filter: { projectId?: string }) => [
      (await listExecutions(dan, filter)).length,
      (await dan.agents.listActive(filter)).items.length,
    ];
    expect(await found({})).toEqual([1, 1]);
    await world.rows(
      'update projects set archived_at = now() where org_id = $1 and id = $2',
      orgId,
      projectId,
    );
    expect(await found({})).toEqual([0, 0]);
    expect(await found({ projectId })).toEqual([1, 1]);
  });

  it('shows whole executions, newest first, with what they work on', async () => {
    const { chloe, dan, ben, orgId } = people;
    const first = await acquireStory(chloe, 'WEB-1');
    await acquireStory(ben, 'WEB-2');
    const groupId = newId();
    await world.rows(
      `insert into delivery_groups (org_id, id, project_id, name, state, merge_strategy)
       values ($1, $2, $3, 'Sign-in', 'active', 'per_story')`,
      ...[orgId, groupId, projectId],
    );
    await ben.deliveryExecutions.acquire({ targetType: 'delivery_group', targetId: groupId });
    const items = await listExecutions(dan);
    expect(items.map(({ story, group }) => [story?.key ?? null, group])).toEqual([
      [null, { id: groupId, name: 'Sign-in' }],
      ['WEB-2', null],
      ['WEB-1', null],
    ]);
    const { story, group, answered, ...execution } = items[2] ?? {};
    expect(execution).toEqual(
      (await dan.deliveryExecutions.get({ executionId: first.executionId })).execution,
    );
    expect(story).toMatchObject({ key: 'WEB-1', title: 'A story', status: 'ready' });
    expect(group).toBeNull();
    expect(answered).toBe(false);
  });

  it('says whether someone other than the author of the question has replied', async () => {
    const { ben, chloe, dan, orgId } = people;
    const held = await acquireStory(chloe, 'WEB-1');
    const [execution] = await listExecutions(dan);
    const comment = async (who: typeof chloe, parentId: string | null, deletedAt?: Date): Promise<string> => {
      const id = newId();
      await world.rows(
        `insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id, deleted_at)
         values ($1, $2, $3, $4, $5, $9, $6, $7, $8)`,
        ...[orgId, id, execution?.targetId, parentId, parentId === null ? 'question' : 'comment'],
        { kind: 'member', memberId: who.me.memberId, agentId: null, name: newId() },
        ...[who.me.memberId, deletedAt ?? null, deletedAt === undefined ? 'Text' : null],
      );
      return id;
    };
    const isAnswered = async () => (await listExecutions(dan))[0]?.answered;
    const questionId = await comment(chloe, null);
    await chloe.deliveryExecutions.update({ ...held, waitingFor: { questionId } });
    await comment(chloe, questionId);
    await comment(ben, questionId, new Date());
    expect(await isAnswered()).toBe(false);
    await comment(ben, questionId);
    expect(await isAnswered()).toBe(true);
    await chloe.deliveryExecutions.update({ ...held, waitingFor: null });
    expect(await isAnswered()).toBe(false);
  });

  it('finds work by its state as readers see it, also where only time has passed', async () => {
    const { ana, ben, chloe, orgId } = people;
    await acquireStory(chloe, 'WEB-1');
    const offered = await acquireStory(chloe, 'WEB-2');
    await chloe.deliveryExecutions.checkpoint({ ...offered, summary: 'Half' });
    await chloe.deliveryExecutions.handoff({ ...offered, toMemberId: ben.me.memberId, offerTtlSeconds: 60 });
    const submitted = await acquireStory(chloe, 'WEB-3');
    await chloe.deliveryExecutions.complete({
      ...{ ...submitted, outcome: 'submitted', pullRequest: pullRequest(3) },
    });
    const failed = await acquireStory(chloe, 'WEB-4');
    await chloe.deliveryExecutions.complete({ ...failed, outcome: 'failed' });
    await chloe.deliveryExecutions.release(await acquireStory(chloe, 'WEB-5'));

    expect(await listStoryKeys({ state: 'leased' })).toEqual(['WEB-1']);
    expect(await listStoryKeys({ state: ['offered', 'completed'] })).toEqual(['WEB-4', 'WEB-2']);
    expect(await listStoryKeys({ state: ['available', 'submitted'] })).toEqual(['WEB-5', 'WEB-3']);
    expect(await listStoryKeys({ state: 'stalled' })).toEqual([]);

    await passTime(world, orgId, 3600);
    await acquireStory(ana, 'WEB-6');
    expect(await listStoryKeys({ state: 'leased' })).toEqual(['WEB-6']);
    expect(await listStoryKeys({ state: ['stalled'] })).toEqual(['WEB-1']);
    expect(await listStoryKeys({ state: ['leased', 'waiting_input', 'stalled'] })).toEqual([
      'WEB-6',
      'WEB-1',
    ]);
    expect(await listStoryKeys({ state: 'offered' })).toEqual([]);
    expect(await listStoryKeys({ state: 'available' })).toEqual(['WEB-5', 'WEB-2']);
    expect(await listStoryKeys({ state: ['available', 'offered'] })).toEqual(['WEB-5', 'WEB-2']);
  });

  it('finds what a member holds, with the work of its agents, and what an agent holds', async () => {
    const { ana, ben, chloe, robo, orgId } = people;
    await acquireStory(chloe, 'WEB-1');
    await acquireStory(robo, 'WEB-2', 'run-1');
    await acquireStory(ben, 'WEB-3');
    await chloe.deliveryExecutions.release(await acquireStory(chloe, 'WEB-4'));
    expect(await listStoryKeys({ holderId: chloe.me.memberId })).toEqual(['WEB-2', 'WEB-1']);
    expect(await listStoryKeys({ holderId: robo.me.agentId ?? '' })).toEqual(['WEB-2']);
    expect(await listStoryKeys({ holderId: ana.me.memberId })).toEqual([]);
    // A holder keeps an expired lease until another caller takes it.
    await passTime(world, orgId, 3600);
    expect(await listStoryKeys({ holderId: ben.me.memberId, state: 'stalled' })).toEqual(['WEB-3']);
    expect(await listStoryKeys({ holderId: ben.me.memberId, state: 'leased' })).toEqual([]);
    await acquireStory(ana, 'WEB-3');
    expect(await listStoryKeys({ holderId: ben.me.memberId })).toEqual([]);
  });

  it('finds what has to be taken up again', async () => {
    const { ana, chloe } = people;
    for (const [story, number] of [
      ['WEB-1', 1],
      ['WEB-2', 2],
    ] as const)
      await chloe.deliveryExecutions.complete({
        ...{ ...(await acquireStory(chloe, story)), outcome: 'submitted', pullRequest: pullRequest(number) },
      });
    const [, first] = await listExecutions(ana, { state: 'submitted' });
    await ana.deliveryExecutions.recordForgeObservation({
      executionId: first?.id ?? '',
      observation: { dedupeKey: '1', kind: 'checks_failed', observedAt: '2026-11-21T09:30:00.000Z' },
    });
    expect(await listStoryKeys({ needsRework: true })).toEqual(['WEB-1']);
    expect(await listStoryKeys({ needsRework: false })).toEqual(['WEB-2']);
    expect(await listStoryKeys({ needsRework: true, state: 'submitted' })).toEqual(['WEB-1']);
    expect(await listStoryKeys({ needsRework: true, state: 'leased' })).toEqual([]);
    expect(await listStoryKeys({ needsRework: true, pullRequest: 2 })).toEqual([]);
  });

  it('finds work by its branch, and by any pull request that it, its handing in or the forge named', async () => {
    const { ana, chloe } = people;
    const held = await acquireStory(chloe, 'WEB-1');
    const git = { branch: 'web-1', pullRequest: { ...pullRequest(17), state: 'open' } } as const;
    await chloe.deliveryExecutions.update({ ...held, git });
    await chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted', pullRequest: pullRequest(18) });
    const other = await acquireStory(chloe, 'WEB-2');
    const observation = {
      dedupeKey: '1',
      kind: 'pr_opened',
      observedAt: '2026-11-21T09:30:00.000Z',
    } as const;
    await ana.deliveryExecutions.recordForgeObservation({
      executionId: other.executionId,
      observation: { ...observation, ...pullRequest(19) },
    });
    expect(await listStoryKeys({ branch: 'web-1' })).toEqual(['WEB-1']);
    expect(await listStoryKeys({ branch: 'web-1', state: 'leased' })).toEqual([]);
    expect(await listStoryKeys({ branch: 'WEB-1' })).toEqual([]);
    for (const [number, key] of [
      [17, 'WEB-1'],
      [18, 'WEB-1'],
      [19, 'WEB-2'],
    ] as const)
      for (const name of [number, String(number), pullRequest(number).url])
        expect([name, await listStoryKeys({ pullRequest: name })]).toEqual([name, [key]]);
    expect(await listStoryKeys({ pullRequest: 20 })).toEqual([]);
    expect(await listStoryKeys({ pullRequest: 17, branch: 'web-2' })).toEqual([]);
    for (const none of [0, -1, 1.5, 'seventeen', '017', '', 'ftp://example.com/17'])
      await expect(listExecutions(ana, { pullRequest: none })).rejects.toMatchObject({
        body: { code: 'bad_request' },
      });
  });

  const walks: readonly (readonly [string, Filter])[] = [
    ['all', {}],
    ['those of some states', { state: ['leased', 'stalled', 'waiting_input'] }],
    ['those of a state that time changes', { state: 'leased' }],
    ['those of a holder', { holderId: 'chloe' }],
    ['those of a branch', { branch: 'main' }],
  ];
  it.each(walks)('walks through %s page by page, while more is begun', async (_which, filter) => {
    const { ana, chloe, dan } = people;
    for (const story of [1, 2, 3, 4, 5]) {
      const held = await acquireStory(chloe, `WEB-${story}`);
      await chloe.deliveryExecutions.update({ ...held, git: { branch: 'main' } });
    }
    const asked = filter.holderId === undefined ? filter : { ...filter, holderId: chloe.me.memberId };
    const seen: (string | undefined)[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Awaited<ReturnType<typeof dan.deliveryExecutions.list>> = await dan.deliveryExecutions.list(
        { ...asked, limit: 2, ...(cursor !== undefined && { cursor }) },
      );
      seen.push(...page.items.map(({ story }) => story?.key));
      if (cursor === undefined) await acquireStory(ana, 'WEB-6');
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['WEB-5', 'WEB-4', 'WEB-3', 'WEB-2', 'WEB-1']);
  });

  it('is cut where its checkpoints are a mebibyte, and leaves out nothing on the way', async () => {
    const { chloe, dan, orgId } = people;
    for (const story of [1, 2, 3, 4, 5]) {
      const held = await acquireStory(chloe, `WEB-${story}`);
      await chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    }
    await world.rows(
      `update executions set checkpoint = checkpoint || jsonb_build_object('data', jsonb_build_object('x', repeat('x', 400000)))
       where org_id = $1`,
      orgId,
    );
    const first = await dan.deliveryExecutions.list({ limit: 200 });
    expect(first.items.map(({ story }) => story?.key)).toEqual(['WEB-5', 'WEB-4']);
    const { items, nextCursor } = await dan.deliveryExecutions.list({
      ...{ limit: 2, cursor: first.nextCursor ?? '' },
    });
    expect(items.map(({ story }) => story?.key)).toEqual(['WEB-3', 'WEB-2']);
    const last = await dan.deliveryExecutions.list({ cursor: nextCursor ?? '' });
    expect([last.items.map(({ story }) => story?.key), last.nextCursor]).toEqual([['WEB-1'], null]);
  });
});

describe('what a caller may not see', () => {
  /** Creates a private project in which Ana works on a story. Dan and Robo cannot see it. */
  async function hidden(): Promise<string> {
    const { ana, orgId } = people;
    const id = newId();
    await world.rows(
      `with p as (insert into projects (org_id, id, key, name, visibility, origin)
         values ($1, $2, 'SEC', 'Secret', 'private', 'hosted') returning id),
       k as (insert into project_counters (org_id, project_id) select $1, id from p returning project_id),
       c as (insert into board_columns (org_id, id, project_id, name, status, position)
         select $1, $3, project_id, 'Ready', 'ready', 0 from k returning id, project_id)
       insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select $1, $4, project_id, 1, 'Hidden', 'ready', id, 'a', '{}' from c`,
      ...[orgId, id, newId(), newId()],
    );
    const held = await acquireStory(ana, 'SEC-1');
    const git = { branch: 'secret', pullRequest: { ...pullRequest(7), state: 'open' } } as const;
    await ana.deliveryExecutions.update({ ...held, git });
    return id;
  }

  it('is not there, by whatever filter it is looked for', async () => {
    const { ana, dan } = people;
    const id = await hidden();
    await acquireStory(people.chloe, 'WEB-1');
    for (const filter of [
      {},
      { state: 'leased' },
      { holderId: ana.me.memberId },
      { needsRework: false },
      { branch: 'secret' },
      { pullRequest: 7 },
      { pullRequest: pullRequest(7).url },
    ] as const) {
      const seen = await dan.deliveryExecutions.list({ ...filter, limit: 1 });
      expect([filter, seen.items.map(({ story }) => story?.key), seen.nextCursor]).toEqual([
        filter,
        'branch' in filter || 'pullRequest' in filter || 'holderId' in filter ? [] : ['WEB-1'],
        null,
      ]);
      expect(await listStoryKeys(filter, ana)).toContain('SEC-1');
    }
    for (const projectId of [id, 'SEC'])
      await expect(listExecutions(dan, { projectId })).rejects.toMatchObject({ body: { code: 'not_found' } });
    expect(await listStoryKeys({ projectId: id }, ana)).toEqual(['SEC-1']);
  });

  it('is what is in no project of the token, or in another organization', async () => {
    const { orgId, ana } = people;
    const id = await hidden();
    await acquireStory(people.chloe, 'WEB-1');
    const bound = await world.token(orgId, ana.me.memberId, { projectIds: [id] });
    expect(await listStoryKeys({}, bound)).toEqual(['SEC-1']);
    await expect(listExecutions(bound, { projectId: 'WEB' })).rejects.toMatchObject({
      body: { code: 'not_found' },
    });
    const other = await world.org();
    expect(await listExecutions(other.ana)).toEqual([]);
    expect(await listExecutions(other.ana, { holderId: ana.me.memberId })).toEqual([]);
  });
});
