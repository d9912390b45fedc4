/**
 * Tokens and agents that members create themselves, over HTTP and in two processes: their permissions, and
 * their immediate revocation.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { activeRuns, createOrgWithStory, runRef, target } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;

beforeEach(async () => {
  people = await createOrgWithStory(api);
  await api.world.rows(`update tokens set expires_at = now() + interval '400 days' where agent_id is null`);
});

const createToken = (params: object = {}) =>
  api.client(people.chloe.me.token).tokens.create({ name: 'Laptop', scopes: ['write'], ...params });

describe('a token that its member made', () => {
  it('calls as its member, and one of an agent as the agent', async () => {
    const { chloe } = people;
    const own = api.client((await createToken()).secret);
    expect((await own.session.identity()).member.id).toBe(chloe.me.memberId);
    const { agent } = await chloe.agents.create({ name: 'Claude' });
    const agents = api.client((await createToken({ agentId: agent.id })).secret);
    expect((await agents.session.identity()).agent).toEqual({ id: agent.id, name: 'Claude' });
    const { story } = await agents.stories.create({ projectId: 'WEB', title: 'By Claude' });
    expect(story.createdBy).toMatchObject({ kind: 'agent', agentId: agent.id, name: 'Claude' });
  });

  it('is refused everywhere from the moment at which its revocation was answered', async () => {
    const other = await api.startReplica();
    const { token, secret } = await createToken();
    const copies = [api, other];
    // Both processes cache the token.
    for (const copy of copies)
      expect((await copy.call(secret, 'stories.list', { projectId: 'WEB' })).status).toBe(200);
    let isRevoked = false;
    const late: number[] = [];
    const calls = copies.map(async (copy) => {
      for (let after = 0; after < 5;) {
        const beganAfter = isRevoked;
        const { status } = await copy.call(secret, 'stories.list', { projectId: 'WEB' });
        if (!beganAfter) continue;
        after += 1;
        late.push(status);
      }
    });
    await other.client(people.chloe.me.token).tokens.revoke({ tokenId: token.id });
    isRevoked = true;
    await Promise.all(calls);
    expect(late).toEqual(Array(10).fill(401));
  });

  it('is made once by an Idempotency-Key, whose kept answer has no secret', async () => {
    const { chloe, orgId } = people;
    const key = { 'idempotency-key': newId() };
    const params = { name: 'Once', scopes: ['write'] };
    const first = await api.call(chloe.me.token, 'tokens.create', params, key);
    const again = await api.call(chloe.me.token, 'tokens.create', params, key);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body['token']).toEqual(first.body['token']);
    expect(first.body['secret']).toMatch(/^must_live_/);
    expect(again.body['secret']).toBe('');
    const [kept] = await api.world.rows<{ text: string; made: number }>(
      `select string_agg(k::text, ' ') as text, (select count(*)::int from tokens t where t.org_id = $1 and t.name = 'Once') as made
       from idempotency_keys k where k.org_id = $1`,
      orgId,
    );
    expect(kept?.made).toBe(1);
    expect(kept?.text).toContain('tokens.create');
    expect(kept?.text).not.toContain(first.body['secret']);
    const another = await api.call(chloe.me.token, 'tokens.create', { ...params, name: 'Twice' }, key);
    expect([another.status, another.body.details?.reason]).toEqual([422, 'idempotency_mismatch']);
  });
});

describe('an agent that is retired', () => {
  it('holds nothing any more: work, locks, offers and runs are free in the same moment, and its history keeps its name', async () => {
    const { ana, chloe, robo } = people;
    const agentId = robo.me.agentId ?? '';
    await ana.stories.create({ projectId: 'WEB', title: 'Another', status: 'ready' });
    const { execution } = await robo.deliveryExecutions.acquire({ ...target, runId: runRef.runId });
    await robo.locks.acquire({ projectId: 'WEB', resources: ['src/**'] });
    await robo.agents.runEvent({ ...runRef, kind: 'started' });
    const others = await ana.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2' });
    const held = { executionId: others.execution.id, leaseToken: others.leaseToken };
    await ana.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    await ana.deliveryExecutions.handoff({ ...held, toAgentId: agentId });

    await chloe.agents.retire({ agentId });
    expect((await ana.deliveryExecutions.get({ executionId: execution.id })).execution).toMatchObject({
      state: 'available',
      lease: null,
    });
    expect((await ana.deliveryExecutions.get({ executionId: others.execution.id })).execution).toMatchObject({
      state: 'available',
      offer: null,
    });
    expect((await ana.locks.list({ projectId: 'WEB' })).items).toEqual([]);
    expect(await activeRuns(ana)).toEqual([]);
    const { items } = await ana.deliveryExecutions.eventsSince({ executionId: execution.id });
    expect(items.at(-1)).toMatchObject({ kind: 'released', data: { reason: 'agent retired' } });
    expect(items.at(0)).toMatchObject({ actor: { kind: 'agent', agentId, name: 'Robo' } });
    const next = await ana.deliveryExecutions.acquire(target);
    expect(next.execution.lease?.epoch).toBe((execution.lease?.epoch ?? 0) + 1);
  });

  it('leaves what its member and their other agents hold', async () => {
    const { ana, chloe, robo, orgId } = people;
    const other = await api.world.token(orgId, chloe.me.memberId, { agent: 'Other' });
    for (const title of ['a', 'b']) await ana.stories.create({ projectId: 'WEB', title, status: 'ready' });
    await robo.deliveryExecutions.acquire(target);
    await chloe.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-2' });
    await other.deliveryExecutions.acquire({ targetType: 'story', targetId: 'WEB-3' });
    await chloe.locks.acquire({ projectId: 'WEB', resources: ['chloe/**'] });
    await other.locks.acquire({ projectId: 'WEB', resources: ['other/**'] });
    await robo.locks.acquire({ projectId: 'WEB', resources: ['robo/**'] });
    await chloe.agents.retire({ agentId: robo.me.agentId ?? '' });
    const holders = await Promise.all(
      ['WEB-1', 'WEB-2', 'WEB-3'].map(async (targetId) => {
        const { execution } = await ana.deliveryExecutions.getForTarget({ targetType: 'story', targetId });
        return execution?.lease?.holder.name ?? null;
      }),
    );
    expect(holders).toEqual([null, 'Chloé', 'Other']);
    const { items } = await ana.locks.list({ projectId: 'WEB' });
    expect(items.flatMap(({ resources }) => resources).sort()).toEqual(['chloe/**', 'other/**']);
  });

  it.each(['deliveryExecutions.acquire', 'locks.acquire', 'deliveryGroups.acquireLease'] as const)(
    'gets nothing by %s that comes at the same moment',
    async (operation) => {
      const { ana, robo, orgId } = people;
      const agentId = robo.me.agentId ?? '';
      const { group } = await ana.deliveryGroups.create({ projectId: 'WEB', name: 'G', storyIds: ['WEB-1'] });
      const params = {
        'deliveryExecutions.acquire': target,
        'locks.acquire': { projectId: 'WEB', resources: ['src/**'] },
        'deliveryGroups.acquireLease': { groupId: group.id },
      }[operation];
      const [claim, retirement] = await api.world.runUnderContention(
        { table: 'agents', id: agentId },
        () => api.call(robo.me.token, operation, params),
        () => api.call(ana.me.token, 'agents.retire', { agentId }),
      );
      expect(retirement).toMatchObject({ value: { status: 200 } });
      expect([200, 401]).toContain(claim?.status === 'fulfilled' ? claim.value.status : 0);
      const [left] = await api.world.rows<{ leases: number; locks: number }>(
        `select (select count(*)::int from leases where org_id = $1 and state = 'held') as leases,
           (select count(*)::int from locks where org_id = $1) as locks`,
        orgId,
      );
      expect(left).toEqual({ leases: 0, locks: 0 });
    },
  );

  it('is given no work, and no run is told of it, by any that name it', async () => {
    const { ana, chloe, robo } = people;
    const agentId = robo.me.agentId ?? '';
    const { execution, leaseToken } = await ana.deliveryExecutions.acquire(target);
    const held = { executionId: execution.id, leaseToken };
    await ana.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    await chloe.agents.retire({ agentId });
    const attempts = [
      () => ana.assignments.set({ targetType: 'story', targetId: 'WEB-1', agentId }),
      () => ana.reviewers.add({ storyId: 'WEB-1', agentId }),
      () => ana.deliveryExecutions.handoff({ ...held, toAgentId: agentId }),
      () => chloe.agents.runEvent({ ...runRef, kind: 'started', agentId }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 404 });
  });
});
