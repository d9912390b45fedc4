import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type ObservationKind } from '@muster/contract';
import { type PeopleOf, useWorld } from '@muster/testing';
import { arrangeStories } from '../../../test/stories.ts';
import { deliveryHandlers } from '../../index.ts';

const world = useWorld(deliveryHandlers);
let people: PeopleOf<typeof world>;
let projectId: string;

beforeEach(async () => {
  ({ people, projectId } = await arrangeStories(world));
});

/** Acquires the work, and submits it with a pull request of this number. */
async function submitWork(number: number): Promise<string> {
  const { deliveryExecutions: api } = people.chloe;
  const { execution, leaseToken } = await api.acquire({ targetType: 'story', targetId: 'WEB-1' });
  await api.complete({
    ...{ executionId: execution.id, leaseToken, outcome: 'submitted' },
    pullRequest: { number, url: `https://example.com/${number}` },
  });
  return execution.id;
}

async function observe(executionId: string, kind: ObservationKind, minute: number, number?: number) {
  const { execution } = await people.ana.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: {
      ...{ dedupeKey: `${kind} ${minute}`, kind, observedAt: `2026-11-21T09:${minute}:00.000Z` },
      ...(number !== undefined && { number, url: `https://example.com/${number}` }),
    },
  });
  return [execution.state, execution.needsRework];
}

describe('a pull request that is closed', () => {
  it('gives back what was handed in, to be worked on again', async () => {
    const id = await submitWork(3);
    expect(await observe(id, 'pr_closed', 10, 3)).toEqual(['available', true]);
    expect(await observe(id, 'checks_passed', 11)).toEqual(['available', true]);
    expect(await observe(id, 'pr_reopened', 12, 3)).toEqual(['available', false]);
  });

  it('gives back nothing that was handed in after it, whatever is seen next', async () => {
    const id = await submitWork(3);
    await observe(id, 'pr_closed', 20, 3);
    await submitWork(4);
    expect(await observe(id, 'checks_passed', 21)).toEqual(['submitted', false]);
    // The forge saw this earlier than the fact that is already known, although it arrives later.
    expect(await observe(id, 'pr_closed', 19, 3)).toEqual(['submitted', false]);
    expect(await observe(id, 'pr_closed', 22, 4)).toEqual(['available', true]);
  });
});

it('says nothing of the branch where a fact has nothing to say of it', async () => {
  const { deliveryExecutions: api } = people.chloe;
  const { execution } = await api.acquire({ targetType: 'story', targetId: 'WEB-1' });
  for (const kind of ['review_approved', 'merge_conflict', 'pr_opened'] as const) {
    const observation = { dedupeKey: kind, kind, observedAt: '2026-11-21T09:10:00.000Z' };
    const seen = await api.recordForgeObservation({ executionId: execution.id, observation });
    expect(seen).toMatchObject({ recorded: true, execution: { git: null } });
  }
});

const [first, second, third] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

describe('observations of the head', () => {
  let executionId: string;
  beforeEach(async () => {
    executionId = await submitWork(3);
  });

  const report = async (observation: {
    readonly kind: ObservationKind;
    readonly minute: number;
    readonly sha?: string;
    readonly before?: string;
    readonly reviewer?: string;
  }) => {
    const { minute, ...more } = observation;
    const { execution } = await people.ana.deliveryExecutions.recordForgeObservation({
      executionId,
      observation: {
        ...{ dedupeKey: JSON.stringify(observation), observedAt: `2026-11-21T09:${minute}:00.000Z` },
        ...more,
      },
    });
    return execution;
  };

  it('are ordered by the history that they state, not only by time', async () => {
    await report({ kind: 'branch_pushed', minute: 10, sha: first });
    await report({ kind: 'branch_pushed', minute: 11, sha: third, before: second });
    const late = await report({ kind: 'branch_pushed', minute: 11, sha: second, before: first });
    expect(late.git?.headSha).toBe(third);
  });

  it('count no checks of an earlier head, even if they end later', async () => {
    await report({ kind: 'branch_pushed', minute: 10, sha: first });
    await report({ kind: 'branch_pushed', minute: 11, sha: second });
    expect(await report({ kind: 'checks_passed', minute: 12, sha: second })).toMatchObject({
      ...{ needsRework: false, git: { checks: 'passing' } },
    });
    expect(await report({ kind: 'checks_failed', minute: 13, sha: first })).toMatchObject({
      ...{ needsRework: false, git: { checks: 'passing' } },
    });
    expect(await report({ kind: 'checks_failed', minute: 14, sha: second })).toMatchObject({
      ...{ needsRework: true, git: { checks: 'failing' } },
    });
  });

  it('need rework until the reviewer who requested changes approves', async () => {
    const review = async (kind: ObservationKind, minute: number, reviewer: string) =>
      (await report({ kind, minute, reviewer })).needsRework;
    expect(await review('changes_requested', 10, '1')).toBe(true);
    expect(await review('review_approved', 11, '2')).toBe(true);
    expect(await review('review_approved', 12, '1')).toBe(false);
  });
});

describe('a report that names its repository', () => {
  const [web, api] = ['https://github.com/acme/web', 'git@github.com:Acme/api.git'];

  const link = (url: string) =>
    world.rows(
      `with c as (insert into forge_connections (org_id, id, kind, name, base_url, secret, created_by)
         values ($1, $2, 'github', 'GitHub', 'https://github.com', 'sealed', '{}') returning id)
       insert into forge_repositories (org_id, id, connection_id, project_id, url, linked_by)
       select $1, $3, c.id, $4, $5, '{}' from c`,
      people.orgId,
      newId(),
      newId(),
      projectId,
      url,
    );

  async function startOnBranch(branch: string): Promise<string> {
    const { deliveryExecutions } = people.chloe;
    const { execution, leaseToken } = await deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-2' },
    });
    await deliveryExecutions.update({ executionId: execution.id, leaseToken, git: { branch } });
    return execution.id;
  }
  const find = async (filter: { branch?: string; pullRequest?: string; repository: string }) =>
    (await people.ana.deliveryExecutions.list(filter)).items.map(({ id }) => id);
  const push = (executionId: string, repository?: string) =>
    people.ana.deliveryExecutions.recordForgeObservation({
      executionId,
      ...(repository !== undefined && { repository }),
      observation: {
        ...{ dedupeKey: `push ${repository}`, kind: 'branch_pushed', ref: 'fix-1', sha: second },
        observedAt: '2026-11-21T09:10:00.000Z',
      },
    });
  const otherRepository = { status: 422, reason: 'other_repository' };

  it('finds only work of projects that are linked to it, and is refused for other work', async () => {
    const executionId = await startOnBranch('fix-1');
    expect(await find({ branch: 'fix-1', repository: api })).toEqual([executionId]);
    await link(web);
    expect(await find({ branch: 'fix-1', repository: web })).toEqual([executionId]);
    expect(await find({ branch: 'fix-1', repository: api })).toEqual([]);
    await expect(push(executionId, api)).rejects.toMatchObject(otherRepository);
    expect((await people.ana.deliveryExecutions.get({ executionId })).execution.git?.headSha).toBeNull();
    expect(await push(executionId, web)).toMatchObject({ recorded: true });
    expect(await push(executionId)).toMatchObject({ recorded: true });
  });

  it('finds no work by its branch while it may be in any of several linked repositories', async () => {
    await link(web);
    await link('https://github.com/acme/api');
    const executionId = await startOnBranch('fix-1');
    expect(await find({ branch: 'fix-1', repository: web })).toEqual([]);
    expect(await push(executionId, web)).toMatchObject({ recorded: true });
  });

  it('finds work by the repository of the pull request, also under a former name', async () => {
    await link('https://github.com/acme/api');
    await link('https://github.com/acme/site');
    await world.rows(
      `update forge_repositories set former_urls = array[$2] where org_id = $1 and url like '%site'`,
      people.orgId,
      web,
    );
    const { deliveryExecutions } = people.chloe;
    const { execution, leaseToken } = await deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1' },
    });
    const pullRequest = { number: 7, url: `${web}/pull/7` };
    const executionId = execution.id;
    await deliveryExecutions.complete({ executionId, leaseToken, outcome: 'submitted', pullRequest });
    const filter = { pullRequest: pullRequest.url };
    expect(await find({ ...filter, repository: 'https://github.com/acme/site' })).toEqual([executionId]);
    expect(await find({ ...filter, repository: api })).toEqual([]);
    await expect(push(executionId, api)).rejects.toMatchObject(otherRepository);
  });
});
