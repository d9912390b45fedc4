/** The worker fetches the reviews of Gitea and Forgejo by their API. */
import { describe, expect, it } from '@jest/globals';
import { pullEvent, timeAfterSeconds, shaOf } from '@muster/testing/github';
import { pullRequest, forgePullAnswer, useForgeFixture } from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';

const { world, now, start, handIn, begin, settle, gets, asked, executionNow, deliveries, answers } =
  useForgeFixture();
const a = shaOf('a');

describe('reviews, which Gitea and Forgejo deliver without the right of the reviewer', () => {
  const review = (id: number, user: number, more: object = {}) => ({
    ...{ id, user: { id: user }, state: 'REQUEST_CHANGES', commit_id: a, official: true, dismissed: false },
    ...{ submitted_at: timeAfterSeconds(5), ...more },
  });
  const rejected = {
    event: 'pull_request_rejected',
    payload: {
      ...pullEvent(pullRequest, 'reviewed', a, 5).payload,
      ...{ review: { type: 'pull_request_review_rejected', content: 'No.' }, sender: { id: 5 } },
    },
  };
  const hear = async (...reviews: object[]) => {
    answers(
      forgePullAnswer(pullEvent(pullRequest, 'edited', a, 5), 'open'),
      {},
      { '/pulls/7/reviews': reviews },
    );
    const { outcome } = await deliver(world, now.people, now.connection, rejected);
    await settle();
    return [outcome[0]?.reason, (await executionNow()).needsRework];
  };
  const fetched = 'the reviews of the pull request are being fetched from the forge';

  it.each(['gitea', 'forgejo'] as const)(
    'count at %s if they are official and not dismissed',
    async (kind) => {
      await begin(kind);
      const strangers = review(1, 4, { official: false });
      expect(await hear(strangers)).toEqual([fetched, false]);
      expect(await hear(strangers, review(2, 5))).toEqual([fetched, true]);
      expect(await hear(review(2, 5), review(3, 4, { official: false, state: 'APPROVED' }))).toEqual([
        fetched,
        true,
      ]);
      expect(await hear(review(2, 5, { dismissed: true }))).toEqual([fetched, false]);
      expect((await deliveries()).filter(({ event }) => event === 'pull_request_review')).toHaveLength(2);
    },
  );

  it('do not count without credentials to fetch them', async () => {
    await begin('gitea', null);
    expect(await hear(review(2, 5))).toEqual([expect.stringContaining('has no credentials'), false]);
    expect(now.forge.asked).toEqual([]);
  });

  it.each(['gitea', 'forgejo'] as const)(
    'are fetched once the work is known at %s, where they came before',
    async (kind) => {
      await start(kind);
      await deliver(world, now.people, now.connection, pullEvent(pullRequest, 'opened', a, 1));
      answers(
        forgePullAnswer(pullEvent(pullRequest, 'edited', a, 5), 'open'),
        {},
        { '/pulls/7/reviews': [review(2, 5)] },
      );
      const { outcome } = await deliver(world, now.people, now.connection, rejected);
      expect(outcome[0]?.reason).toContain('belongs to no known work');
      await settle();
      expect(gets()).toEqual([]);
      await handIn();
      await settle();
      expect((await executionNow()).needsRework).toBe(true);
      expect(asked()).toHaveLength(1);
      await deliver(world, now.people, now.connection, pullEvent(pullRequest, 'edited', a, 6));
      await settle();
      expect(asked()).toHaveLength(1);
    },
  );
});
