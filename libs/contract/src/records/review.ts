import { z } from 'zod';
import { Actor } from './member.ts';
import { Id, multilineText, recordStamps, Time } from '../kernel/values.ts';

export const verdicts = ['pending', 'approved', 'changes_requested', 'commented'] as const;
export const Verdict = z.enum(verdicts);
export type Verdict = z.infer<typeof Verdict>;

export const ReviewNote = multilineText(4000, 1).refine(
  (value) => value.trim().length > 0,
  'must not be blank',
);

/** A reviewer: a member or an agent. */
export const ReviewerRef = z.object({
  kind: z.enum(['member', 'agent']),
  id: Id.describe('The id of the member or agent; kind says which'),
  name: z.string(),
  memberId: Id.describe('For an agent, the id of the member to whom it belongs'),
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
  .describe('The spec version and code that are to be reviewed, as far as known');
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
      .describe('The spec or code has changed since the verdict, or the reviewer is no longer a member'),
    note: z.string().nullable(),
    specVersion: z.int().min(0).nullable().describe('The reviewed version of the spec; null while pending'),
    headSha: z.string().nullable().describe('The reviewed head commit, if known'),
    diffHash: z.string().nullable().describe('The reviewed diff, if known'),
    underReview: UnderReview,
    decidedAt: Time.nullable(),
    importedBy: Actor.nullable().describe('Who imported it; an imported verdict never counts as a review'),
    importedFrom: z.string().nullable().describe('The tracker from which it was imported'),
    ...recordStamps,
  })
  .meta({ id: 'Reviewer' });
export type Reviewer = z.infer<typeof Reviewer>;
