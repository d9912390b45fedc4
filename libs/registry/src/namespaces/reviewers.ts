import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { AgentParam, Deleted, MemberParam, StoryRef } from '../kernel/values.ts';
import { Reviewer, ReviewNote, Verdict } from '../records/review.ts';
import { DiffHash, Sha } from '../records/story.ts';

const party = { memberId: MemberParam.optional(), agentId: AgentParam.optional() };
type Party = { readonly memberId?: string | undefined; readonly agentId?: string | undefined };

const isOne = ({ memberId, agentId }: Party): boolean => (memberId === undefined) !== (agentId === undefined);
const notOne = { error: 'give either memberId or agentId', path: ['memberId'] };

export const reviewers = {
  add: operation({
    name: 'reviewers.add',
    effect: 'write',
    summary: 'Ask a member or an agent to review a story',
    keywords: 'assign reviewer request code review ask for review',
    description: `Who reviews must be able to see the project; an agent sees what its member sees. Whether an agent's verdict is taken is the policy's to say when it comes. A story has at most 50 reviewers.`,
    access: project('contributor'),
    params: z.strictObject({ storyId: StoryRef, ...party }).refine(isOne, notOne),
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
    summary: 'Take back a request to review a story',
    keywords: 'drop reviewer off take',
    description: `The verdict goes with the reviewer, and counts no more. Any contributor may where nothing was said yet; a verdict goes by its own reviewer, the member whose agent that is, or a lead of the project (else 403 verdict_of_another).`,
    access: project('contributor'),
    params: z.strictObject({ storyId: StoryRef, ...party }).refine(isOne, notOne),
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
    description: `In the order in which they were asked. An approval or a request for changes is stale once the spec has a newer version, or the code under review is another one, told by a member, the holder or the forge. By the hash of the diff where it is told, else by the head commit; code where there was none is another, too. What is stale stays stale. So is what a member decided, or an agent of theirs, who is gone. underReview says what there is to review now.`,
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef, ...page }),
    result: pageOf(Reviewer),
    example: { storyId: 'WEB-1' },
  }),
  listForUser: operation({
    name: 'reviewers.listForUser',
    effect: 'read',
    summary: 'List what a member or agent is asked to review, without archived projects',
    keywords: 'my reviews waiting for me to review pending inbox what do i have should todo',
    description: `Yourself unless a member or an agent is named: with a member's token the member, with an agent's token the agent. The latest first, in the projects that you may see.`,
    access: org('viewer'),
    params: z
      .strictObject({ ...party, verdict: Verdict.optional(), ...page })
      .refine((params) => params.memberId === undefined || params.agentId === undefined, {
        error: 'give memberId or agentId, not both',
        path: ['agentId'],
      }),
    result: pageOf(Reviewer),
    example: { verdict: 'pending' },
  }),
  setVerdict: operation({
    name: 'reviewers.setVerdict',
    effect: 'write',
    idempotent: true,
    summary: 'Say what you think of a story you review',
    keywords: 'approve reject request changes lgtm code review decision',
    description: `Only its reviewers may: a member with a member's token, an agent with its own. A verdict replaces the one before, note and all; pending takes it back. It is about the spec and the code as they are, unless you name what you reviewed: something older is stale at once. What you name of code that was not told of yet is under review from then on. An author may not approve unless the policy lets authors: the assignee, a contributor to the work, the member whose agent that was, and every agent of theirs; having written the spec makes no one an author. Repeating it changes nothing.`,
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
        error: 'say in a note which changes you want',
        path: ['note'],
      }),
    result: z.object({ reviewer: Reviewer }),
    refusals: ['policy', 'archived'],
    emits: ['review.decided', 'review.retracted', 'execution.reworkRequested'],
    example: { storyId: 'WEB-2', verdict: 'approved', note: 'Reads well.' },
  }),
};
