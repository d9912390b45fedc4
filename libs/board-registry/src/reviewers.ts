import { z } from 'zod';
import {
  org,
  project,
  operation,
  pageParams,
  pageSchemaOf,
  AgentParam,
  Deleted,
  MemberParam,
  StoryRef,
  Reviewer,
  ReviewNote,
  Verdict,
  DiffHash,
  Sha,
} from '@muster/contract';

const reviewerParams = { memberId: MemberParam.optional(), agentId: AgentParam.optional() };
type ReviewerParams = { readonly memberId?: string | undefined; readonly agentId?: string | undefined };

const hasExactlyOneId = ({ memberId, agentId }: ReviewerParams): boolean =>
  (memberId === undefined) !== (agentId === undefined);
const exactlyOneIdIssue = { error: 'give either memberId or agentId', path: ['memberId'] };

export const reviewers = {
  add: operation({
    name: 'reviewers.add',
    effect: 'write',
    summary: 'Ask a member or an agent to review a story',
    keywords: 'assign reviewer request code review ask for review',
    description:
      'The reviewer must be able to see the project; an agent sees what its member sees. Whether an agent may give a verdict depends on the policy at that time. A story has at most 50 reviewers.',
    access: project('contributor'),
    params: z
      .strictObject({ storyId: StoryRef, ...reviewerParams })
      .refine(hasExactlyOneId, exactlyOneIdIssue),
    result: z.object({ reviewer: Reviewer }),
    refusals: ['already_exists', 'no_role_in_project', 'limit_exceeded', 'archived'],
    emits: ['reviewer.added'],
    example: { storyId: 'WEB-1', agentId: '01936d5c-0000-7000-8000-000000000051' },
  }),
  remove: operation({
    name: 'reviewers.remove',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Remove a reviewer from a story',
    keywords: 'drop reviewer off take',
    description:
      "The reviewer's verdict is removed too. Any contributor may remove a reviewer without a verdict; otherwise only the reviewer, the member of the reviewing agent, or a lead of the project may (else 403 verdict_of_another).",
    access: project('contributor'),
    params: z
      .strictObject({ storyId: StoryRef, ...reviewerParams })
      .refine(hasExactlyOneId, exactlyOneIdIssue),
    result: Deleted,
    refusals: ['archived'],
    emits: ['reviewer.removed'],
    example: { storyId: 'WEB-1', memberId: '01936d5c-0000-7000-8000-000000000050' },
  }),
  list: operation({
    name: 'reviewers.list',
    effect: 'read',
    summary: 'List the reviewers of a story with their verdicts',
    keywords: 'who reviews reviewed approvals approved',
    description:
      'In the order in which they were asked. An approval or a request for changes becomes stale when the spec has a newer version, or when a member, the holder or the forge reports other code. Code is compared by diff hash if known, otherwise by head commit; code that appears where there was none counts as changed. A stale verdict stays stale. Verdicts of former members and their agents are stale too. underReview is the spec version and code that are to be reviewed now.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef, ...pageParams }),
    result: pageSchemaOf(Reviewer),
    example: { storyId: 'WEB-1' },
  }),
  listForUser: operation({
    name: 'reviewers.listForUser',
    effect: 'read',
    summary: 'List the reviews of a member or agent in projects that are not archived',
    keywords: 'my reviews waiting for me to review pending inbox what do i have should todo',
    description:
      "Yourself by default: the member for a member's token, the agent for an agent's token. Newest first, in projects that you may see.",
    access: org('viewer'),
    params: z
      .strictObject({ ...reviewerParams, verdict: Verdict.optional(), ...pageParams })
      .refine((params) => params.memberId === undefined || params.agentId === undefined, {
        error: 'give either memberId or agentId, not both',
        path: ['agentId'],
      }),
    result: pageSchemaOf(Reviewer),
    example: { verdict: 'pending' },
  }),
  setVerdict: operation({
    name: 'reviewers.setVerdict',
    effect: 'write',
    idempotent: true,
    summary: 'Give your verdict on a story that you review',
    keywords: 'approve reject request changes lgtm code review decision',
    description:
      'Only reviewers of the story may: members with their own token, agents with theirs. A verdict replaces the previous one with its note; pending withdraws it. It applies to the current spec and code, unless you name what you reviewed; an older version makes it stale immediately. Code that you name and that was not reported yet becomes the code under review. Unless the policy allows it, authors may not approve: the assignee, contributors to the work, the members of such agents, and all agents of these members. Writing the spec does not make someone an author. Repeating the call has no effect.',
    access: project('viewer'),
    params: z
      .strictObject({
        storyId: StoryRef,
        verdict: Verdict,
        note: ReviewNote.optional(),
        specVersion: z.int().min(0).max(2_147_483_647).optional(),
        headSha: Sha.optional(),
        diffHash: DiffHash.optional(),
      })
      .refine((params) => params.verdict !== 'changes_requested' || params.note !== undefined, {
        error: 'is required: describe the changes that you request',
        path: ['note'],
      }),
    result: z.object({ reviewer: Reviewer }),
    refusals: ['policy', 'archived'],
    emits: ['review.decided', 'review.retracted', 'execution.reworkRequested'],
    example: { storyId: 'WEB-2', verdict: 'approved', note: 'Reads well.' },
  }),
};
