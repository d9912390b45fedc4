import { registry } from '@muster/registry';
import { changedFields, forbidden, handle, notFound } from '@muster/runtime';
import { lockReview, reviewable, type ReviewRow, setReview, toReviewer } from '../../data/reviewers.ts';
import { authorsOf } from '../../data/reviews.ts';
import { aboutStory, lockStory } from '../../data/stories.ts';
import { reviewed, unmetForVerdict } from '../../rules/reviews.ts';

export const setVerdict = handle(
  registry.reviewers.setVerdict,
  async ({ params, caller, db, access, policy: askPolicy, emit, refuse }) => {
    const { storyId, verdict } = params;
    const { orgId } = caller;
    // The story is locked, so that a verdict comes before or after a move into done that goes by it, never beside it.
    const [{ at }, policy, story, review, authors] = await Promise.all([
      access(),
      askPolicy(),
      lockStory(db, orgId, storyId),
      lockReview(db, orgId, storyId, caller),
      authorsOf(db, orgId, storyId),
    ]);
    if (review === undefined) {
      throw forbidden('not_a_reviewer', 'Only a reviewer of the story may give a verdict on it.');
    }
    if (params.specVersion !== undefined && params.specVersion > story.spec_version) throw notFound();
    const who = { memberId: review.member_id, agentId: review.agent_id };
    const unmet = unmetForVerdict(verdict, who, authors, policy);
    if (unmet.length > 0) throw refuse('policy', { unmet });

    const said = verdict === 'pending' ? nothingSaid : saidOf(params, reviewable(story));
    if (changedFields(review, said).length === 0) return { reviewer: toReviewer(review, story) };

    const changed: ReviewRow = {
      ...review,
      ...said,
      decided_at: verdict === 'pending' ? null : at,
      updated_at: at,
      version: review.version + 1,
    };
    db.later(setReview(orgId, changed));
    if (verdict === 'pending') {
      emit('review.retracted', aboutStory(story), { previousVerdict: review.verdict });
    } else {
      emit('review.decided', aboutStory(story), { verdict, note: changed.note });
    }
    return { reviewer: toReviewer(changed, story) };
  },
);

type Said = Pick<ReviewRow, 'verdict' | 'note' | 'spec_version' | 'head_sha' | 'diff_hash'>;

const nothingSaid: Said = {
  verdict: 'pending',
  note: null,
  spec_version: null,
  head_sha: null,
  diff_hash: null,
};

/** A verdict as it is kept, with what it is about. */
function saidOf(
  params: Parameters<typeof reviewed>[0] & { verdict: Said['verdict']; note?: string | undefined },
  now: Parameters<typeof reviewed>[1],
): Said {
  const { specVersion, headSha, diffHash } = reviewed(params, now);
  return {
    verdict: params.verdict,
    note: params.note ?? null,
    spec_version: specVersion,
    head_sha: headSha,
    diff_hash: diffHash,
  };
}
