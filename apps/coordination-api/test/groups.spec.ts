/** Delivery groups over HTTP: progress, completion, signals for the coordinator, and conflicts. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, MusterError } from '@muster/client';
import { type ObservationKind } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
let people: People<AllHandlers>;
let ana: Client;
let ben: Client;
let chloe: Client;
let groupId: string;

beforeEach(async () => {
  people = await api.org();
  [ana, ben, chloe] = [people.ana, people.ben, people.chloe].map(({ me }) => api.client(me.token)) as [
    Client,
    Client,
    Client,
  ];
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  for (const title of ['Passkeys', 'Recovery', 'Sessions']) {
    await ana.stories.create({ projectId: 'WEB', title, status: 'in_progress' });
  }
  const { group } = await chloe.deliveryGroups.create({
    projectId: 'WEB',
    name: 'Sign-in',
    storyIds: ['WEB-1', 'WEB-2'],
  });
  groupId = group.id;
});

const groupNow = async () => (await ana.deliveryGroups.get({ groupId })).group;
const moveTo = (...states: ('active' | 'in_review' | 'landed' | 'abandoned')[]) =>
  states.reduce<Promise<unknown>>(
    (before, state) => before.then(() => ben.deliveryGroups.update({ groupId, state })),
    Promise.resolve(),
  );
const workOn = async (who: Client, target: string | null) => {
  const { execution, leaseToken } = await who.deliveryExecutions.acquire(
    target === null
      ? { targetType: 'delivery_group', targetId: groupId }
      : { targetType: 'story', targetId: target },
  );
  return { executionId: execution.id, leaseToken };
};
const observe = (executionId: string, kind: ObservationKind) =>
  ana.deliveryExecutions.recordForgeObservation({
    executionId,
    observation: { dedupeKey: `${executionId} ${kind}`, kind, observedAt: '2026-11-21T09:30:00.000Z' },
  });
const handIn = async (who: Client, target: string | null) => {
  const held = await workOn(who, target);
  await who.deliveryExecutions.complete({
    ...held,
    outcome: 'submitted',
    pullRequest: { number: 7, url: 'https://example.com/7' },
  });
  return held.executionId;
};

describe('the progress of a group', () => {
  it('counts what is done, what was seen to be merged, and what somebody has to lift', async () => {
    await ana.stories.update({
      storyId: 'WEB-2',
      blocked: { kind: 'external', note: 'Waits', unblockerMemberId: people.ben.me.memberId },
    });
    expect((await groupNow()).progress).toEqual({ total: 2, done: 0, landed: 0, blocked: 1 });
    await observe(await handIn(ben, 'WEB-1'), 'pr_merged');
    expect((await groupNow()).progress).toEqual({ total: 2, done: 1, landed: 1, blocked: 1 });
    await ana.stories.updateStatus({ storyId: 'WEB-2', status: 'done' });
    expect((await groupNow()).progress).toEqual({ total: 2, done: 2, landed: 1, blocked: 0 });
    expect((await ana.deliveryGroups.list({ projectId: 'WEB' })).items).toEqual([await groupNow()]);
  });

  it('forgets the merge of a story that was taken up again', async () => {
    await observe(await handIn(ben, 'WEB-1'), 'pr_merged');
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'in_progress' });
    await workOn(ben, 'WEB-1');
    expect((await groupNow()).progress).toMatchObject({ done: 0, landed: 0 });
  });

  it("is done with the group's own merge, which lands no group by itself", async () => {
    await moveTo('active', 'in_review');
    await observe(await handIn(ben, null), 'pr_merged');
    expect(await groupNow()).toMatchObject({
      state: 'in_review',
      progress: { total: 2, done: 2, landed: 2 },
    });
  });

  it('forgets its own merge once it was taken up again, and lands by no proof of before', async () => {
    await ana.policy.update({ requireMergeProof: true });
    await moveTo('active', 'in_review');
    await observe(await handIn(ben, null), 'pr_merged');
    await workOn(ben, null);
    expect((await groupNow()).progress).toMatchObject({ landed: 0 });
    await expect(moveTo('landed')).rejects.toMatchObject({
      reason: 'policy',
      body: { details: { unmet: [{ gate: 'requireMergeProof', stories: ['WEB-1', 'WEB-2'] }] } },
    });
  });

  it('goes on without a story that was deleted', async () => {
    const { story } = await ana.stories.get({ storyId: 'WEB-2' });
    await ana.stories.delete({ storyId: 'WEB-1' });
    expect(await groupNow()).toMatchObject({ storyIds: [story.id], progress: { total: 1 } });
  });
});

describe('the life of a group', () => {
  it('goes its way, each step once, and no other', async () => {
    await expect(moveTo('landed')).rejects.toMatchObject({
      status: 422,
      reason: 'invalid_transition',
      body: { details: { from: 'draft', to: 'landed' } },
    });
    await moveTo('active', 'in_review', 'active', 'in_review');
    const { version } = await groupNow();
    expect(version).toBe(5);
    const again = await ben.deliveryGroups.update({ groupId, state: 'in_review', name: 'Sign-in' });
    expect(again.group.version).toBe(version);
    await expect(
      ben.deliveryGroups.update({ groupId, name: 'Late', expectedVersion: 4 }),
    ).rejects.toMatchObject({ reason: 'version_mismatch', body: { details: { currentVersion: 5 } } });
    const landed = await ben.deliveryGroups.update({ groupId, state: 'landed', name: 'Signed in' });
    expect(landed.group).toMatchObject({ state: 'landed', name: 'Signed in', version: 6 });
    expect((await ben.deliveryGroups.update({ groupId, state: 'landed' })).group).toEqual(landed.group);
    for (const change of [{ state: 'active' }, { state: 'abandoned' }, { name: 'Other' }] as const) {
      await expect(ben.deliveryGroups.update({ groupId, ...change })).rejects.toMatchObject({
        reason: 'invalid_transition',
      });
    }
    await expect(workOn(ben, null)).rejects.toMatchObject({ status: 422, reason: 'invalid_transition' });
    // The stories of a landed group can join other groups. The landed group still lists them.
    expect((await ana.deliveryGroups.getForStory({ storyId: 'WEB-1' })).group).toBeNull();
    const next = { projectId: 'WEB', name: 'Next', storyIds: ['WEB-1'] };
    expect((await chloe.deliveryGroups.create(next)).group.state).toBe('draft');
    expect((await groupNow()).storyIds).toHaveLength(2);
  });

  it('lands with proof where the policy asks for it: of each story, but for canceled ones', async () => {
    await ana.policy.update({ requireMergeProof: true });
    await moveTo('active', 'in_review');
    const missing = (...stories: string[]) => ({
      status: 422,
      reason: 'policy',
      body: { details: { unmet: [{ gate: 'requireMergeProof', stories }] } },
    });
    await expect(moveTo('landed')).rejects.toMatchObject(missing('WEB-1', 'WEB-2'));
    await observe(await handIn(ben, 'WEB-2'), 'pr_merged');
    await expect(moveTo('landed')).rejects.toMatchObject(missing('WEB-1'));
    await ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    await moveTo('landed');
  });

  it('lands with proof of nothing only where nothing asks for one', async () => {
    await ana.policy.update({ requireMergeProof: true });
    await moveTo('active', 'in_review');
    for (const storyId of ['WEB-1', 'WEB-2']) await ana.stories.updateStatus({ storyId, status: 'canceled' });
    await expect(moveTo('landed')).rejects.toMatchObject({ reason: 'policy' });
    await ana.policy.update({ requireMergeProof: false });
    await moveTo('landed');
  });

  it('does not end under the hands of another, and takes its own work along', async () => {
    const held = await workOn(chloe, null);
    await moveTo('active', 'in_review');
    for (const state of ['landed', 'abandoned'] as const) {
      await expect(moveTo(state)).rejects.toMatchObject({
        status: 409,
        reason: 'lease_held',
        body: { details: { holder: { name: 'Chloé' }, targetType: 'delivery_group' } },
      });
    }
    await chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Kept' });
    await chloe.deliveryGroups.update({ groupId, state: 'abandoned' });
    const { execution } = await ana.deliveryExecutions.get({ executionId: held.executionId });
    expect(execution).toMatchObject({
      state: 'completed',
      outcome: 'canceled',
      lease: null,
      checkpoint: { summary: 'Kept' },
    });
    await expect(chloe.deliveryExecutions.renew(held)).rejects.toMatchObject({ reason: 'stale_lease' });
  });

  it('succeeds with what was handed in, and a merge that is seen later still does its work', async () => {
    const executionId = await handIn(chloe, null);
    await moveTo('active', 'in_review', 'landed');
    const { execution } = await ana.deliveryExecutions.get({ executionId });
    expect(execution).toMatchObject({ state: 'completed', outcome: 'succeeded' });
    await observe(executionId, 'pr_merged');
    expect((await groupNow()).progress).toMatchObject({ done: 2, landed: 2 });
  });
});

describe('what is known of a group elsewhere', () => {
  it('is merged field by field, and cleared by null', async () => {
    const update = async (git: Parameters<Client['deliveryGroups']['updateGitMeta']>[0]['git']) =>
      (await ben.deliveryGroups.updateGitMeta({ groupId, git })).group;
    expect((await update({ branch: 'sign-in', checks: 'pending' })).version).toBe(2);
    const { git, version } = await update({ checks: 'passing' });
    expect([git, version]).toMatchObject([{ branch: 'sign-in', checks: 'passing', headSha: null }, 3]);
    expect((await update({ checks: 'passing' })).version).toBe(3);
    expect((await update({ branch: null, checks: null })).git).toBeNull();
  });

  it('is linked to one record of another tracker, by one group', async () => {
    const upstream = { provider: 'jira', externalId: 'ACME-7' } as const;
    const { group } = await ben.deliveryGroups.updateUpstream({ groupId, upstream });
    expect(group).toMatchObject({ upstream: { ...upstream, url: null }, version: 2 });
    expect((await ben.deliveryGroups.updateUpstream({ groupId, upstream })).group.version).toBe(2);
    const other = await chloe.deliveryGroups.create({ projectId: 'WEB', name: 'Other', storyIds: ['WEB-3'] });
    await expect(
      ben.deliveryGroups.updateUpstream({ groupId: other.group.id, upstream }),
    ).rejects.toMatchObject({ status: 409, reason: 'already_exists' });
    await ben.deliveryGroups.updateUpstream({ groupId, upstream: null });
    await ben.deliveryGroups.updateUpstream({ groupId: other.group.id, upstream });
  });

  it('shows in the context of its stories, which cannot be started while another works on the group', async () => {
    const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Ready', status: 'ready' });
    await chloe.deliveryGroups.replaceStories({ groupId, storyIds: [story.id] });
    await workOn(chloe, null);
    const context = await ben.storyCollaboration.context({ storyId: story.id });
    expect(context.deliveryGroup).toEqual(await groupNow());
    expect(context.readiness?.reasons).toContain('lease_held');
    const hers = await chloe.storyCollaboration.context({ storyId: story.id });
    expect(hers.readiness?.reasons).not.toContain('lease_held');
  });

  it('is that somebody is assigned to it', async () => {
    const target = { targetType: 'delivery_group', targetId: groupId } as const;
    await ana.assignments.set({ ...target, memberId: people.ben.me.memberId });
    const { items } = await ana.assignments.listForProject({ projectId: 'WEB' });
    expect(items).toMatchObject([{ targetId: groupId, targetTitle: 'Sign-in', member: { name: 'Ben' } }]);
    await ana.assignments.clear(target);
  });
});

describe('the coordinator of a group', () => {
  const kinds = (signals: readonly { kind: string; data: Record<string, unknown> }[]) =>
    signals.map(({ kind, data }) => [kind, data['storyKey'] ?? (data['groupId'] === groupId && 'group')]);

  it('hears what others did to its stories and to the group, once, and never what it did itself', async () => {
    const { leaseToken } = await chloe.deliveryGroups.acquireLease({ groupId });
    const held = { groupId, leaseToken };
    await ana.storySpec.update({ storyId: 'WEB-1', content: '# New' });
    await chloe.comments.create({ storyId: 'WEB-1', body: 'Mine' });
    await ana.comments.create({ storyId: 'WEB-3', body: 'Of no story of hers' });
    const { comment } = await ben.comments.create({ storyId: 'WEB-2', body: 'Which?', kind: 'question' });
    const executionId = await handIn(ben, 'WEB-2');
    await observe(executionId, 'checks_failed');
    await ana.comments.create({ storyId: 'WEB-2', parentId: comment.id, body: 'The second.' });
    await ana.comments.resolve({ commentId: comment.id });
    await moveTo('active');
    const first = await chloe.deliveryGroups.renewLease(held);
    expect(kinds(first.signals)).toEqual([
      ['spec_changed', 'WEB-1'],
      ['new_comments', 'WEB-2'],
      ['story_changed', 'WEB-2'],
      ['forge', 'WEB-2'],
      ['new_comments', 'WEB-2'],
      ['question_answered', 'WEB-2'],
      ['story_changed', 'group'],
    ]);
    const said = first.signals.filter(({ kind }) => kind === 'new_comments' || kind === 'question_answered');
    expect(said.map(({ data }) => data)).toMatchObject([
      { body: 'Which?', author: { name: 'Ben' } },
      { body: 'The second.', author: { name: 'Ana' } },
      { question: 'Which?', answer: { body: 'The second.', author: { name: 'Ana' } } },
    ]);
    const seqs = first.signals.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect((await chloe.deliveryGroups.renewLease(held)).signals).toEqual([]);
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    await ben.reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' });
    const { signals } = await chloe.deliveryGroups.checkpoint({ ...held, summary: 'One is approved' });
    expect(kinds(signals)).toEqual([['review_verdict', 'WEB-1']]);
    await ana.stories.update({ storyId: 'WEB-2', priority: 'urgent' });
    const again = await chloe.deliveryGroups.acquireLease({ groupId });
    expect(kinds(again.signals)).toEqual([['story_changed', 'WEB-2']]);
    await ben.comments.create({ storyId: 'WEB-1', body: 'Before you go' });
    const { leaseToken: fresh } = again;
    const { signals: last } = await chloe.deliveryGroups.releaseLease({ groupId, leaseToken: fresh });
    expect(kinds(last)).toEqual([['new_comments', 'WEB-1']]);
  });

  it('misses nothing of what is written at the same time, and hears nothing twice', async () => {
    const { leaseToken } = await chloe.deliveryGroups.acquireLease({ groupId });
    const heard: number[] = [];
    const listen = async () => {
      const { signals } = await chloe.deliveryGroups.renewLease({ groupId, leaseToken });
      heard.push(...signals.map(({ seq }) => seq));
    };
    const writers = [ana, ben].flatMap((who) =>
      ['WEB-1', 'WEB-2'].map(async (storyId) => {
        for (let turn = 0; turn < 10; turn += 1) {
          await who.comments.create({ storyId, body: `${turn}` });
        }
      }),
    );
    const over = new AbortController();
    const written = Promise.all(writers).finally(() => {
      over.abort();
    });
    while (!over.signal.aborted) await listen();
    await written;
    await listen();
    expect(heard).toHaveLength(40);
    expect(new Set(heard).size).toBe(40);
  });

  it('is not the only one to hear of the group: so does whoever works on it', async () => {
    const held = await workOn(chloe, null);
    await ben.deliveryGroups.update({ groupId, state: 'active' });
    const { signals } = await chloe.deliveryExecutions.renew(held);
    expect(signals).toMatchObject([{ kind: 'story_changed', data: { from: 'draft', to: 'active' } }]);
  });
});

describe('many at once', () => {
  it('put a story into exactly one group', async () => {
    const outcomes = await Promise.allSettled(
      [ana, ben, chloe, ana, ben, chloe, ana, ben, chloe, ana, ben, chloe].map((who, index) =>
        who.deliveryGroups.create({ projectId: 'WEB', name: `Group ${index}`, storyIds: ['WEB-3'] }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ status: 409, reason: 'in_active_group' });
    }
  });

  it('never work on a group and its story for different holders, however stories come and go', async () => {
    const rivals = () =>
      api.world.rows(
        `select m.story_id from delivery_group_stories m
         join leases g on g.org_id = m.org_id and g.unit_type = 'delivery_group' and g.unit_id = m.group_id
         join leases s on s.org_id = m.org_id and s.unit_type = 'story' and s.unit_id = m.story_id
         where m.org_id = $1 and m.open and g.state = 'held' and s.state = 'held'
           and g.member_id is distinct from s.member_id`,
        people.orgId,
      );
    const refusals = new Set<string>();
    const attempt = async (act: () => Promise<unknown>): Promise<void> => {
      await act().catch((error: unknown) => {
        if (!(error instanceof MusterError)) throw error;
        const { status, reason } = error;
        refusals.add(`${status} ${reason}`);
      });
    };
    const once = async (who: Client, target: string | null): Promise<void> => {
      const held = await workOn(who, target);
      expect(await rivals()).toEqual([]);
      await who.deliveryExecutions.release(held);
    };
    const turns = Array.from({ length: 8 }, (_, turn) => turn);
    await Promise.all([
      (async () => {
        for (const turn of turns) {
          const storyIds = turn % 2 === 0 ? ['WEB-1', 'WEB-3'] : ['WEB-2', 'WEB-1'];
          await attempt(() => ana.deliveryGroups.replaceStories({ groupId, storyIds }));
        }
      })(),
      ...['WEB-1', 'WEB-2', 'WEB-3'].map(async (key) => {
        for (const _ of turns) await attempt(() => once(ben, key));
      }),
      (async () => {
        for (const _ of turns) await attempt(() => once(ana, null));
      })(),
    ]);
    expect(await rivals()).toEqual([]);
    for (const refusal of refusals) expect(refusal).toBe('409 lease_held');
  });
});
