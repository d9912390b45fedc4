/**
 * Tests the review gate of done, for each operation that moves stories. Only reviews of the current content
 * count.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { noReportedCode, type Story, type Verdict, verdicts } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import fc from 'fast-check';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { reviewers } from '../reviewers/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { stories } from './handlers.ts';

const world = useWorld({ stories, storySpec, assignments, reviewers });

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
const begin = async (policy: object) => {
  people = await world.org({ policy });
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.ana.stories.create({
    projectId: board.projectId,
    title: 'Passkeys',
    status: 'in_review',
  }));
};
const setPolicy = (policy: object) =>
  world.rows('update orgs set policy = policy || $2 where id = $1', people.orgId, policy);
beforeEach(() => begin({ requiredApprovals: 1 }));

const idOf = (person: PersonOf<typeof world>) => person.me.memberId;
const requestReviews = async (...whom: PersonOf<typeof world>[]) => {
  for (const person of whom) {
    const who = person.me.agentId === null ? { memberId: idOf(person) } : { agentId: person.me.agentId };
    await people.ana.reviewers.add({ storyId: story.id, ...who });
  }
};
const setVerdict = (who: PersonOf<typeof world>, verdict: Verdict = 'approved') =>
  who.reviewers.setVerdict({ storyId: story.id, verdict, note: 'See above.' });
const moveToDone = () => people.ana.stories.updateStatus({ storyId: story.id, status: 'done' });
const unmetGatesError = (...unmet: object[]) => ({
  status: 422,
  body: { details: { reason: 'policy', unmet } },
});
const unmetApprovalGate = { gate: 'requiredApprovals', required: 1, fresh: 0 };
const statusNow = async () => (await people.ana.stories.get({ storyId: story.id })).story.status;

describe('the gate into done', () => {
  it('opens with enough fresh approvals, to a drag as well as to a change of status', async () => {
    await begin({ requiredApprovals: 0 });
    const { ana, ben, chloe } = people;
    const drag = () => ana.stories.reorder({ storyId: story.id, columnId: board.columns.done });
    const { story: anchor } = await ana.stories.create({
      projectId: board.projectId,
      title: 'y',
      status: 'done',
    });
    await setPolicy({ requiredApprovals: 2 });
    const dragBeside = () => ana.stories.reorder({ storyId: story.id, beforeStoryId: anchor.id });
    await requestReviews(ben, chloe);
    await setVerdict(ben);
    const one = unmetGatesError({ gate: 'requiredApprovals', required: 2, fresh: 1 });
    for (const move of [moveToDone, drag, dragBeside]) await expect(move()).rejects.toMatchObject(one);
    await setVerdict(chloe);
    for (const move of [moveToDone, drag, dragBeside]) {
      expect((await move()).story.status).toBe('done');
      await ana.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
    }
  });

  it('is shut by requested changes, also where no approval is asked for, until the verdict or the reviewer goes', async () => {
    await begin({ requiredApprovals: 0 });
    const { ana, ben } = people;
    await requestReviews(ben);
    await setVerdict(ben, 'changes_requested');
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError({ gate: 'changesRequested', fresh: 1 }));
    await setVerdict(ben, 'commented');
    await moveToDone();
    await ana.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
    await setVerdict(ben, 'changes_requested');
    await expect(moveToDone()).rejects.toMatchObject({ reason: 'policy' });
    await ana.reviewers.remove({ storyId: story.id, memberId: idOf(ben) });
    await moveToDone();
  });

  it('is on no other way', async () => {
    await requestReviews(people.ben);
    await setVerdict(people.ben, 'changes_requested');
    const { ana } = people;
    for (const status of ['ready', 'in_progress', 'in_review', 'canceled'] as const) {
      expect((await ana.stories.updateStatus({ storyId: story.id, status })).story.status).toBe(status);
    }
  });

  it('knows only verdicts on the spec and the code as they are', async () => {
    const { ben } = people;
    await requestReviews(ben);
    await setVerdict(ben);
    await ben.storySpec.update({ storyId: story.id, content: 'a\n' });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
    await setVerdict(ben);
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: 'aaaaaaaa' } });
    await setVerdict(ben);
    await ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: 'bbbbbbbb' } });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
    await setVerdict(ben, 'changes_requested');
    await ben.storySpec.update({ storyId: story.id, content: 'b\n' });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
    await setVerdict(ben);
    expect((await moveToDone()).story.status).toBe('done');
  });

  it('does not count what an agent said while agents may not review', async () => {
    const { ben, robo } = people;
    await requestReviews(robo, ben);
    await setVerdict(robo);
    await setPolicy({ agentsMayReview: false });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
    await setVerdict(ben);
    await world.rows(
      `update story_reviewers set verdict = 'changes_requested' where agent_id = $1`,
      robo.me.agentId,
    );
    expect((await moveToDone()).story.status).toBe('done');
  });

  it('does not count an approval of whoever became an author since, or whose agent did', async () => {
    const { ana, ben, chloe, robo } = people;
    const assign = (who: object) => ana.assignments.set({ targetType: 'story', targetId: story.id, ...who });
    await requestReviews(ben, chloe, robo);
    for (const who of [ben, chloe, robo]) await setVerdict(who);
    await assign({ memberId: idOf(ben), agentId: robo.me.agentId });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
    await assign({ agentId: null });
    await moveToDone();
    await ana.stories.updateStatus({ storyId: story.id, status: 'ready' });
    await setPolicy({ requiredApprovals: 3, authorMayApprove: true });
    await assign({ agentId: robo.me.agentId });
    expect((await moveToDone()).story.status).toBe('done');
  });

  it('is shut to agents where they may not complete, on every way', async () => {
    await begin({ requiredApprovals: 0, agentsMayComplete: false });
    const agent = people.robo;
    const no = unmetGatesError({ gate: 'agentsMayComplete' });
    const { done } = board.columns;
    await expect(agent.stories.updateStatus({ storyId: story.id, status: 'done' })).rejects.toMatchObject(no);
    await expect(agent.stories.reorder({ storyId: story.id, columnId: done })).rejects.toMatchObject(no);
    const { projectId } = board;
    await expect(agent.stories.create({ projectId, title: 'x', status: 'done' })).rejects.toMatchObject(no);
    await moveToDone();
  });

  it('is shut without a merge where the policy asks for one, on every way', async () => {
    await begin({ requiredApprovals: 0, requireMergeProof: true });
    const { ana } = people;
    const no = unmetGatesError({ gate: 'requireMergeProof' });
    await expect(moveToDone()).rejects.toMatchObject(no);
    const { done } = board.columns;
    await expect(ana.stories.reorder({ storyId: story.id, columnId: done })).rejects.toMatchObject(no);
    const { projectId } = board;
    await expect(ana.stories.create({ projectId, title: 'x', status: 'done' })).rejects.toMatchObject(no);
  });

  it('counts nothing that a removed member said, for or against, which is stale', async () => {
    const { ben, chloe, orgId } = people;
    await requestReviews(ben, chloe);
    await setVerdict(ben, 'changes_requested');
    await setVerdict(chloe);
    const stale = async () =>
      (await people.ana.reviewers.list({ storyId: story.id })).items.map((item) => item.stale);
    const remove = (person: PersonOf<typeof world>) =>
      world.rows(`update members set status = 'removed' where org_id = $1 and id = $2`, orgId, idOf(person));
    await expect(moveToDone()).rejects.toMatchObject({ reason: 'policy' });
    await remove(chloe);
    await expect(moveToDone()).rejects.toMatchObject(
      unmetGatesError(unmetApprovalGate, { gate: 'changesRequested', fresh: 1 }),
    );
    expect(await stale()).toEqual([false, true]);
    await remove(ben);
    expect(await stale()).toEqual([true, true]);
    await setPolicy({ requiredApprovals: 0 });
    expect((await moveToDone()).story.status).toBe('done');
  });

  it('counts nothing of another story', async () => {
    const { ana, ben } = people;
    const { story: other } = await ana.stories.create({ projectId: board.projectId, title: 'y' });
    await ana.reviewers.add({ storyId: other.id, memberId: idOf(ben) });
    await ben.reviewers.setVerdict({ storyId: other.id, verdict: 'approved' });
    await expect(moveToDone()).rejects.toMatchObject(unmetGatesError(unmetApprovalGate));
  });
});

describe('the gate into done, while somebody else changes what it goes by', () => {
  /** Lets both calls wait for the story's lock, the first before the second, and then run in that order. */
  async function inTurn(first: () => Promise<unknown>, second: () => Promise<unknown>) {
    const holder = await world.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from stories where id = $1 for update', [story.id]);
      const calls = [first()];
      await world.waitUntilBlocked(1);
      calls.push(second());
      const settled = Promise.allSettled(calls);
      await world.waitUntilBlocked(2);
      await holder.query('rollback');
      return await settled;
    } finally {
      holder.release();
    }
  }

  const target = () => ({ targetType: 'story', targetId: story.id }) as const;
  const changes: [string, () => Promise<unknown>][] = [
    ['an approval that is being withdrawn', () => setVerdict(people.ben, 'pending')],
    ['an approval that turns into a request for changes', () => setVerdict(people.ben, 'changes_requested')],
    [
      'a reviewer who is being taken away',
      () => people.ana.reviewers.remove({ storyId: story.id, memberId: idOf(people.ben) }),
    ],
    [
      'an approval of what the spec was',
      () => people.chloe.storySpec.update({ storyId: story.id, content: 'a\n' }),
    ],
    [
      'an approval of what the code was',
      () => people.chloe.stories.updateGitMeta({ storyId: story.id, git: { headSha: 'bbbbbbbb' } }),
    ],
    [
      'an approval of whoever becomes an author',
      () => people.chloe.assignments.set({ ...target(), memberId: idOf(people.ben) }),
    ],
  ];

  beforeEach(async () => {
    await people.ben.stories.updateGitMeta({ storyId: story.id, git: { headSha: 'aaaaaaaa' } });
    await requestReviews(people.ben);
    await setVerdict(people.ben);
  });

  it.each(changes)('does not go by %s', async (_what, change) => {
    const [changed, finished] = await inTurn(change, moveToDone);
    expect(changed?.status).toBe('fulfilled');
    expect(finished).toMatchObject({ status: 'rejected', reason: { reason: 'policy' } });
    expect(await statusNow()).toBe('in_review');
  });

  it.each(changes)('lets a move that came first go before %s', async (_what, change) => {
    const [finished, changed] = await inTurn(moveToDone, change);
    expect([finished?.status, changed?.status]).toEqual(['fulfilled', 'fulfilled']);
    const kinds = await world.rows<{ kind: string }>(
      'select kind from activity where org_id = $1 order by seq desc limit 2',
      people.orgId,
    );
    expect(kinds[1]).toEqual({ kind: 'story.statusChanged' });
    expect(await statusNow()).toBe('done');
  });

  it('counts an approval that came just before', async () => {
    await setVerdict(people.ben, 'pending');
    const outcomes = await inTurn(() => setVerdict(people.ben), moveToDone);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('is the same for two who do it at once, whoever comes first', async () => {
    const outcomes = await world.runUnderContention<unknown>(
      { table: 'stories', id: story.id },
      moveToDone,
      () => setVerdict(people.ben, 'changes_requested'),
    );
    expect(outcomes[1]?.status).toBe('fulfilled');
    expect(await statusNow()).toBe(outcomes[0]?.status === 'fulfilled' ? 'done' : 'in_review');
  });
});

describe('over any verdicts', () => {
  const specVersion = fc.integer({ min: 0, max: 2 });
  const codeSeq = fc.integer({ min: 0, max: 2 });
  const now = fc.record({ specVersion, codeSeq });
  const about = fc.record({ specVersion, codeSeq: fc.option(codeSeq, { nil: null }) });
  const given = fc.record({ verdict: fc.constantFrom(...verdicts), about });

  it('lists say what is stale, and the gate goes by just that', async () => {
    const { orgId, ana, ben, chloe, dan } = people;
    const staff = [ana, ben, chloe, dan].map(idOf);
    await fc.assert(
      fc.asyncProperty(
        now,
        fc.array(given, { maxLength: 4 }),
        fc.integer({ min: 0, max: 2 }),
        async (is, reviews, requiredApprovals) => {
          await setPolicy({ requiredApprovals });
          await world.rows(
            `update stories set status = 'in_review', column_id = $2, spec_version = $3, code = $4 where id = $1`,
            story.id,
            board.columns.in_review,
            is.specVersion,
            is.codeSeq === 0 ? null : { ...noReportedCode, seq: is.codeSeq },
          );
          await world.rows('delete from story_reviewers where story_id = $1', story.id);
          const decided = reviews.map(({ verdict }) => verdict !== 'pending');
          await world.rows(
            `insert into story_reviewers (org_id, id, story_id, project_id, member_id, verdict, note, spec_version,
               code_seq, decided_at)
             select $1, r.id, $2, $3, r.member, r.verdict, 'x', r.spec, r.code, case when r.spec is not null then now() end
             from unnest($4::uuid[], $5::uuid[], $6::text[], $7::int[], $8::int[]) r (id, member, verdict, spec, code)`,
            orgId,
            story.id,
            board.projectId,
            reviews.map(() => newId()),
            reviews.map((_review, index) => staff[index]),
            reviews.map(({ verdict }) => verdict),
            reviews.map((review, index) => (decided[index] === true ? review.about.specVersion : null)),
            reviews.map((review) => review.about.codeSeq),
          );
          const hasMovedOn = (review: (typeof reviews)[number]): boolean =>
            review.about.specVersion !== is.specVersion || review.about.codeSeq !== is.codeSeq;
          const decides = ({ verdict }: (typeof reviews)[number]) =>
            verdict === 'approved' || verdict === 'changes_requested';
          const { items } = await dan.reviewers.list({ storyId: story.id });
          expect(items.map(({ stale }) => stale)).toEqual(
            reviews.map((review) => decides(review) && hasMovedOn(review)),
          );
          const fresh = (verdict: Verdict) =>
            reviews.filter((review) => review.verdict === verdict && !hasMovedOn(review)).length;
          const opens = fresh('approved') >= requiredApprovals && fresh('changes_requested') === 0;
          const outcome = await moveToDone().then(
            () => true,
            (refused: unknown) => {
              expect(refused).toMatchObject({ reason: 'policy' });
              return false;
            },
          );
          expect(outcome).toBe(opens);
        },
      ),
      { numRuns: 40 },
    );
  });
});
