import { trustedCodeReport, type CodeUnderReview } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { changedFields, forbidden, handle, notFound } from '@muster/runtime';
import { lockReview, toReviewable, type ReviewRow, reviews, toReviewer } from '../../data/reviewers.ts';
import { findWorkAuthors } from '../../data/reviews.ts';
import { toStoryEventSubject, lockStory, setCodeUnderReview } from '../../data/stories.ts';
import {
  type ReviewedVersion,
  type ReviewableContent,
  resolveReviewedContent,
  findRulesViolatedByVerdict,
} from '../../rules/reviews.ts';

export const setVerdict = handle(
  boardRegistry.reviewers.setVerdict,
  async ({ params, targetId, caller, db, access, policy: askPolicy, emit, refuse }) => {
    const { verdict } = params;
    // The lock on the story serializes verdicts with moves to done, which depend on them.
    const [{ at }, policy, story, review, authors] = await Promise.all([
      access(),
      askPolicy(),
      lockStory(db, targetId),
      lockReview(db, targetId, caller),
      findWorkAuthors(db, targetId),
    ]);
    if (review === undefined) throw forbidden('not_a_reviewer');
    if (params.specVersion !== undefined && params.specVersion > story.spec_version) throw notFound();
    const who = { agentId: review.agent_id, actingMemberId: review.acting_member_id };
    const unmet = findRulesViolatedByVerdict(verdict, who, authors, policy);
    if (unmet.length > 0) throw refuse('policy', { unmet });

    const { said, code } =
      verdict === 'pending'
        ? { said: pendingVerdict, code: story.code }
        : toStoredVerdict(trustedCodeReport(policy, params), toReviewable(story), at);
    const reviewedStory = { ...story, code };
    if (changedFields(review, said).length === 0) return { reviewer: toReviewer(review, reviewedStory) };

    const decidedAt = verdict === 'pending' ? null : at;
    const changed = reviews.save(db, review, { ...said, decided_at: decidedAt }, at);
    const reviewer = toReviewer(changed, reviewedStory);
    if (code !== story.code && code !== null) db.deferToCommit(setCodeUnderReview(story.id, code));
    if (verdict === 'pending') {
      emit('review.retracted', toStoryEventSubject(story), { previousVerdict: review.verdict });
    } else {
      const { stale } = reviewer;
      emit('review.decided', toStoryEventSubject(story), {
        verdict,
        note: changed.note,
        ...(stale && { stale }),
      });
    }
    return { reviewer };
  },
);

type StoredVerdict = Pick<
  ReviewRow,
  | 'verdict'
  | 'note'
  | 'spec_version'
  | 'code_seq'
  | 'head_sha'
  | 'diff_hash'
  | 'imported_by'
  | 'imported_from'
>;

/** A verdict that is given here replaces an imported one, even if it is the same. */
const notImported = { imported_by: null, imported_from: null };

const pendingVerdict: StoredVerdict = {
  verdict: 'pending',
  note: null,
  spec_version: null,
  code_seq: null,
  head_sha: null,
  diff_hash: null,
  ...notImported,
};

/**
 * Returns the verdict in its stored form, with the content that was reviewed. Also returns the resulting code
 * under review.
 */
function toStoredVerdict(
  params: ReviewedVersion & { verdict: StoredVerdict['verdict']; note?: string | undefined },
  currentContent: ReviewableContent,
  at: string,
): { said: StoredVerdict; code: CodeUnderReview } {
  const { reviewed: about, code } = resolveReviewedContent(params, currentContent, at);
  return {
    said: {
      verdict: params.verdict,
      note: params.note ?? null,
      spec_version: about.specVersion,
      code_seq: about.codeSeq,
      head_sha: about.headSha,
      diff_hash: about.diffHash,
      ...notImported,
    },
    code,
  };
}
