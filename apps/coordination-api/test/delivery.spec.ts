/** Work under a lease in the complete API: effects of the board on the work, and of the work on the board. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { useApi } from './api.ts';
import { expireLeases, createOrgWithStory, target } from './one-story.ts';

const api = useApi();
let people: People<AllHandlers>;

beforeEach(async () => {
  people = await createOrgWithStory(api);
});

const statusOf = async (): Promise<string> =>
  (await people.ana.stories.get({ storyId: 'WEB-1' })).story.status;
const kindsOf = (signals: readonly { kind: string }[]): string[] => signals.map(({ kind }) => kind);
const inboxOf = async (person: Person<AllHandlers>): Promise<string[]> =>
  (await person.notifications.list()).items.map(({ kind }) => kind);

async function acquire(
  who: Person<AllHandlers> = people.chloe,
  more: { start?: boolean; takeOver?: boolean } = {},
) {
  const { execution, leaseToken } = await who.deliveryExecutions.acquire({ ...target, ...more });
  return { executionId: execution.id, leaseToken };
}

describe('work on a story', () => {
  it('starts it, hands it in, and is done with its merge', async () => {
    const held = await acquire(people.chloe, { start: true });
    expect(await statusOf()).toBe('in_progress');
    await people.chloe.deliveryExecutions.complete({
      ...held,
      outcome: 'submitted',
      pullRequest: { number: 7, url: 'https://example.com/7' },
    });
    expect(await statusOf()).toBe('in_review');
    const merged = {
      executionId: held.executionId,
      observation: {
        dedupeKey: 'merge-7',
        kind: 'pr_merged',
        number: 7,
        observedAt: '2026-11-21T09:30:00.000Z',
      },
    } as const;
    const first = await people.ana.deliveryExecutions.recordForgeObservation(merged);
    expect(first).toMatchObject({ recorded: true, execution: { state: 'completed', outcome: 'succeeded' } });
    expect(await statusOf()).toBe('done');
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'ready' });
    const again = await people.ana.deliveryExecutions.recordForgeObservation(merged);
    expect([again.recorded, await statusOf()]).toEqual([false, 'ready']);
  });

  it('is handed in once: the same call again moves no story that was taken up since', async () => {
    const held = await acquire(people.chloe, { start: true });
    const handIn = () =>
      people.chloe.deliveryExecutions.complete({
        ...held,
        outcome: 'submitted',
        pullRequest: { number: 7, url: 'https://example.com/7' },
      });
    await handIn();
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'in_progress' });
    expect(await handIn()).toMatchObject({ execution: { state: 'submitted' } });
    expect(await statusOf()).toBe('in_progress');
  });

  it('finishes all stories of a group with its merge', async () => {
    const second = await people.ana.stories.create({ projectId: 'WEB', title: 'Another', status: 'ready' });
    const { group } = await people.ana.deliveryGroups.create({
      projectId: 'WEB',
      name: 'Both',
      storyIds: ['WEB-1', second.story.id],
    });
    const { execution } = await people.chloe.deliveryExecutions.acquire({
      targetType: 'delivery_group',
      targetId: group.id,
    });
    await people.ana.deliveryExecutions.recordForgeObservation({
      executionId: execution.id,
      observation: { dedupeKey: 'merge-8', kind: 'pr_merged', observedAt: '2026-11-21T09:30:00.000Z' },
    });
    const { story } = await people.ana.stories.get({ storyId: second.story.id });
    expect([await statusOf(), story.status]).toEqual(['done', 'done']);
  });

  it('is begun under the same gates as a move by hand', async () => {
    await people.ana.policy.update({ requireSpecToStart: true });
    await expect(acquire(people.chloe, { start: true })).rejects.toMatchObject({
      status: 422,
      reason: 'policy',
    });
    expect((await people.ana.deliveryExecutions.getForTarget(target)).execution).toBeNull();
  });

  it('hears in its next answer what others did, once, and never what it did itself', async () => {
    const held = await acquire();
    await people.ana.storySpec.update({ storyId: 'WEB-1', content: '# New' });
    await people.ben.comments.create({ storyId: 'WEB-1', body: 'Look here' });
    await people.chloe.comments.create({ storyId: 'WEB-1', body: 'Mine' });
    await people.ana.stories.update({ storyId: 'WEB-1', title: 'Another title' });
    const { signals } = await people.chloe.deliveryExecutions.renew(held);
    expect(kindsOf(signals)).toEqual(['spec_changed', 'new_comments', 'story_changed']);
    expect(signals.map(({ seq }) => seq)).toEqual([2, 3, 5]);
    expect(signals[1]?.data).toMatchObject({
      commentId: expect.any(String),
      body: 'Look here',
      author: { memberId: people.ben.me.memberId },
    });
    expect((await people.chloe.deliveryExecutions.renew(held)).signals).toEqual([]);
  });

  it('hears as much of a comment as it is to read, and nothing of one that was deleted since', async () => {
    const held = await acquire();
    const { comment } = await people.ben.comments.create({ storyId: 'WEB-1', body: 'Never mind' });
    await people.ben.comments.create({ storyId: 'WEB-1', body: 'x'.repeat(5_000) });
    await people.ben.comments.delete({ commentId: comment.id });
    const { signals } = await people.chloe.deliveryExecutions.renew(held);
    expect(signals.map(({ data }) => data['body'])).toEqual([undefined, 'x'.repeat(1_000)]);
    expect(signals[0]?.data['commentId']).toBe(comment.id);
  });

  it('waits for the answer to a question, and goes on with it', async () => {
    const held = await acquire();
    const { comment } = await people.chloe.comments.create({
      storyId: 'WEB-1',
      body: 'Which one?',
      kind: 'question',
    });
    const waitingFor = { questionId: comment.id };
    const { execution } = await people.chloe.deliveryExecutions.update({ ...held, waitingFor });
    expect(execution).toMatchObject({ state: 'waiting_input', waitingFor });
    await people.ana.comments.resolve({ commentId: comment.id });
    const { execution: after, signals } = await people.chloe.deliveryExecutions.renew(held);
    expect(after).toMatchObject({ state: 'leased', waitingFor: null });
    expect(kindsOf(signals)).toEqual(['question_answered']);
    await expect(people.chloe.deliveryExecutions.update({ ...held, waitingFor })).rejects.toMatchObject({
      reason: 'invalid_transition',
    });
  });

  it('waits for the answer to what its own agent asks, without another call, and for no question of others', async () => {
    const { ana, chloe, robo } = people;
    const held = await acquire(robo);
    const ask = async (who: Person<AllHandlers>) =>
      (await who.comments.create({ storyId: 'WEB-1', body: 'Which one?', kind: 'question' })).comment.id;
    const isWaiting = async () => (await robo.deliveryExecutions.renew(held)).execution.waitingFor;
    await ask(ana);
    await ask(chloe);
    expect(await isWaiting()).toBeNull();
    const questionId = await ask(robo);
    const { execution, signals } = await robo.deliveryExecutions.renew(held);
    expect([execution, signals]).toMatchObject([{ state: 'waiting_input', waitingFor: { questionId } }, []]);
    await ana.comments.resolve({ commentId: questionId });
    const answered = await robo.deliveryExecutions.renew(held);
    expect(answered).toMatchObject({
      execution: { state: 'leased', waitingFor: null },
      signals: [{ kind: 'question_answered' }],
    });
    await expireLeases(api, people.orgId);
    await ask(robo);
    expect(await isWaiting()).toBeNull();
  });

  it('waits for each open question of its agent, in whichever order they are answered', async () => {
    const { ana, robo } = people;
    const held = await acquire(robo);
    const ask = async (body: string) =>
      (await robo.comments.create({ storyId: 'WEB-1', body, kind: 'question' })).comment.id;
    const [first, second, third] = [await ask('Which one?'), await ask('Which color?'), await ask('When?')];
    const answer = async (commentId: string) => {
      await ana.comments.resolve({ commentId });
      const { execution, signals } = await robo.deliveryExecutions.renew(held);
      expect(signals).toMatchObject([{ kind: 'question_answered', data: { commentId } }]);
      return { state: execution.state, questionId: execution.waitingFor?.questionId };
    };
    expect(await answer(third)).toEqual({ state: 'waiting_input', questionId: first });
    expect(await answer(second)).toEqual({ state: 'waiting_input', questionId: first });
    expect(await answer(first)).toEqual({ state: 'leased', questionId: undefined });
  });

  it('waits for no question of an agent whose work another has taken over at the same time', async () => {
    const { ana, robo } = people;
    const held = await acquire(robo);
    const { story } = await ana.stories.get({ storyId: 'WEB-1' });
    const outcomes = await api.world.runUnderContention<unknown>(
      { table: 'leases', id: story.id, column: 'unit_id' },
      () => acquire(ana, { takeOver: true }),
      () => robo.comments.create({ storyId: 'WEB-1', body: 'Which one?', kind: 'question' }),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    const { execution } = await ana.deliveryExecutions.get({ executionId: held.executionId });
    expect(execution).toMatchObject({ state: 'leased', waitingFor: null });
    expect(execution.lease?.holder.memberId).toBe(ana.me.memberId);
  });

  it('waits no longer for an answer whose question is deleted', async () => {
    const held = await acquire();
    const { comment } = await people.ben.comments.create({
      storyId: 'WEB-1',
      body: 'Which one?',
      kind: 'question',
    });
    await people.chloe.deliveryExecutions.update({ ...held, waitingFor: { questionId: comment.id } });
    await people.ben.comments.delete({ commentId: comment.id });
    const { execution, signals } = await people.chloe.deliveryExecutions.renew(held);
    expect(execution).toMatchObject({ state: 'leased', waitingFor: null });
    expect(signals).toMatchObject([
      { kind: 'question_answered', data: { commentId: comment.id, deleted: true } },
    ]);
  });

  it('ends with a story that is canceled, and keeps one from being deleted while the lease lives', async () => {
    const held = await acquire();
    await expect(people.ana.stories.delete({ storyId: 'WEB-1' })).rejects.toMatchObject({
      status: 409,
      reason: 'lease_held',
    });
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'canceled' });
    await expect(people.chloe.deliveryExecutions.renew(held)).rejects.toMatchObject({
      reason: 'stale_lease',
    });
    const { execution } = await people.ana.deliveryExecutions.get({ executionId: held.executionId });
    expect(execution).toMatchObject({ state: 'completed', outcome: 'canceled', lease: null });
    await people.ana.stories.delete({ storyId: 'WEB-1' });
    await expect(people.ana.deliveryExecutions.get({ executionId: held.executionId })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('is taken over by a lead, who alone may, and its holder is told', async () => {
    await acquire();
    const eve = await api.world.member(people.orgId, 'Eve', 'member');
    await expect(acquire(eve, { takeOver: true })).rejects.toMatchObject({ status: 403 });
    await acquire(people.ben, { takeOver: true });
    expect(await inboxOf(people.chloe)).toEqual(['lease_taken_over']);
    expect(await inboxOf(people.ben)).toEqual([]);
  });

  it('is offered to somebody, who is told, and to nobody else', async () => {
    const held = await acquire();
    await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Half' });
    await expect(
      people.chloe.deliveryExecutions.handoff({ ...held, toMemberId: newId() }),
    ).rejects.toMatchObject({ status: 404 });
    await people.chloe.deliveryExecutions.handoff({ ...held, toMemberId: people.ben.me.memberId });
    expect(await inboxOf(people.ben)).toEqual(['handoff']);
  });

  it('is there for others when its holder is no member any more', async () => {
    const held = await acquire();
    await people.ana.members.removeMember({ memberId: people.chloe.me.memberId });
    const { execution } = await people.ana.deliveryExecutions.get({ executionId: held.executionId });
    expect(execution).toMatchObject({ state: 'available', lease: null });
    expect((await people.ana.deliveryExecutions.acquire(target)).execution).toMatchObject({ attempt: 2 });
  });

  it('is reviewed by others than those who did it', async () => {
    await acquire(people.robo);
    for (const who of [people.chloe, people.ben]) {
      await people.ana.reviewers.add({ storyId: 'WEB-1', memberId: who.me.memberId });
    }
    await expect(
      people.chloe.reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' }),
    ).rejects.toMatchObject({ status: 422, reason: 'policy' });
    await people.ben.reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' });
  });

  it('shows in the context of the story, which says whether somebody else may start', async () => {
    await acquire();
    const mine = await people.chloe.storyCollaboration.context({ storyId: 'WEB-1' });
    expect(mine.execution).toMatchObject({ state: 'leased', lease: { holder: { name: 'Chloé' } } });
    expect(mine.readiness?.reasons).not.toContain('lease_held');
    const others = await people.ana.storyCollaboration.context({ storyId: 'WEB-1' });
    expect(others.readiness?.reasons).toContain('lease_held');
  });

  it('keeps agents away after a request to stop, and lets a member lift it', async () => {
    const held = await acquire();
    await people.ana.deliveryExecutions.update({ executionId: held.executionId, requestStop: true });
    await people.chloe.deliveryExecutions.release(held);
    const reasonsOf = async ({ storyCollaboration }: Person<AllHandlers>) =>
      (await storyCollaboration.context({ storyId: 'WEB-1' })).readiness?.reasons;
    expect(await reasonsOf(people.robo)).toContain('stop_requested');
    expect(await reasonsOf(people.ana)).not.toContain('stop_requested');
    expect((await people.ana.deliveryExecutions.acquire(target)).execution.state).toBe('leased');
  });
});

describe('an expired lease', () => {
  const expire = () => expireLeases(api, people.orgId);

  it('is seen at once, counts until somebody takes it, and then no more', async () => {
    const held = await acquire();
    await expire();
    const state = async () =>
      (await people.dan.deliveryExecutions.get({ executionId: held.executionId })).execution.state;
    expect(await state()).toBe('stalled');
    await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Late, and kept' });
    expect(await state()).toBe('leased');
    await expire();
    const { execution, resumed } = await people.robo.deliveryExecutions.acquire(target);
    expect(execution).toMatchObject({
      attempt: 2,
      lease: { epoch: 2 },
      checkpoint: { summary: 'Late, and kept' },
    });
    expect(resumed).toBe(true);
    await expect(
      people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Too late' }),
    ).rejects.toMatchObject({ status: 409, reason: 'stale_lease' });
  });
});

describe('an acquire with an Idempotency-Key', () => {
  it('keeps no token, and answers a repeat with one that is good', async () => {
    const headers = { 'idempotency-key': newId() };
    const ask = () => api.call(people.chloe.me.token, 'deliveryExecutions.acquire', target, headers);
    const [first, second] = [await ask(), await ask()];
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const [kept] = await api.world.rows<{ response: string }>(
      'select response from idempotency_keys where org_id = $1',
      people.orgId,
    );
    expect(kept?.response).not.toContain('lse_1_');
    const tokens = [first, second].map(({ body }) => String(body['leaseToken']));
    expect(new Set(tokens).size).toBe(2);
    const { execution } = await people.chloe.deliveryExecutions.getForTarget(target);
    const renew = (leaseToken = '') =>
      people.chloe.deliveryExecutions.renew({ executionId: execution?.id ?? '', leaseToken });
    expect((await renew(tokens[1])).execution.lease?.epoch).toBe(1);
    await expect(renew(tokens[0])).rejects.toMatchObject({ reason: 'stale_lease' });
  });
});

describe('whoever follows the events', () => {
  it('is answered as soon as there is one, and holds no connection meanwhile', async () => {
    const held = await acquire();
    const waiting = Array.from({ length: 100 }, () =>
      people.dan.deliveryExecutions.eventsSince({
        executionId: held.executionId,
        afterSeq: 1,
        waitSeconds: 20,
      }),
    );
    // The pool has ten connections. A hundred waiting calls must leave them to others.
    await people.chloe.deliveryExecutions.checkpoint({ ...held, summary: 'Here' });
    for (const { items, lastSeq } of await Promise.all(waiting)) {
      expect([items.map(({ kind }) => kind), lastSeq]).toEqual([['checkpointed'], 2]);
    }
  });

  it('hears nothing after its time', async () => {
    const { executionId } = await acquire();
    expect(
      await people.dan.deliveryExecutions.eventsSince({ executionId, afterSeq: 1, waitSeconds: 1 }),
    ).toEqual({ items: [], lastSeq: 1 });
  });
});
