import { z } from 'zod';
import { Id, prose, stamps, Time } from '../kernel/values.ts';

export const verdicts = ['pending', 'approved', 'changes_requested', 'commented'] as const;
export const Verdict = z.enum(verdicts);
export type Verdict = z.infer<typeof Verdict>;

export const ReviewNote = prose(4000, 1).refine((value) => value.trim().length > 0, 'must not be blank');

/** A reviewer: a member or an agent. */
export const ReviewerRef = z.object({
  kind: z.enum(['member', 'agent']),
  id: Id.describe("The member's id or the agent's, as kind says"),
  name: z.string(),
  memberId: Id.describe("Of an agent: the member's whose agent it is"),
  agentId: Id.nullable(),
});
export type ReviewerRef = z.infer<typeof ReviewerRef>;

/**
 * The spec and code to which current verdicts must refer. Members, the lease holder or the forge may have
 * reported the code.
 */
export const UnderReview = z
  .object({
    specVersion: z.int().min(0),
    headSha: z.string().nullable(),
    diffHash: z.string().nullable(),
  })
  .describe('What there is to review now, as far as it is known');
export type UnderReview = z.infer<typeof UnderReview>;

/** A reviewer of a story with the verdict, and the spec and code that it refers to. */
export const Reviewer = z
  .object({
    id: Id,
    storyId: Id,
    storyKey: z.string().describe('Such as WEB-42'),
    storyTitle: z.string(),
    projectId: Id,
    reviewer: ReviewerRef,
    verdict: Verdict,
    stale: z
      .boolean()
      .describe(
        'The spec or the code has moved on from what was approved or turned down, or who decided is no member any more',
      ),
    note: z.string().nullable(),
    specVersion: z.int().min(0).nullable().describe('Of the spec that was reviewed; null while pending'),
    headSha: z.string().nullable().describe('The head commit that was reviewed, where known'),
    diffHash: z.string().nullable().describe('The diff that was reviewed, where known'),
    underReview: UnderReview,
    decidedAt: Time.nullable(),
    ...stamps,
  })
  .meta({ id: 'Reviewer' });
export type Reviewer = z.infer<typeof Reviewer>;
