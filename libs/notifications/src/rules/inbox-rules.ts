/**
 * The rules of the inbox for work (agents.inbox): event → recipients, kind, text and the call that answers it. They
 * are defined only in this table.
 */
import { type Actor, type EventKind, type InboxKind, type NextCall, type Subject } from '@muster/contract';
import { type DomainEvent } from '@muster/tenancy';
import { applyRule, type EventRules, type RuleInput, subjectName, verdictVerbs } from './event-rules.ts';
import { excerpt } from './excerpts.ts';

/** The kinds of recipients, found by the ids of a draft. The queries are in data/write-inbox.ts. */
export type InboxRecipients =
  | 'members'
  | 'agents'
  /** The agent or member that held this execution last. */
  | 'holder'
  /** As `holder`, leaving out the agent or member that the second id names. */
  | 'previousHolder'
  /** The agents and members that held the open work on this story, its group, or this group last. */
  | 'workers'
  /** As `workers`, without the work of a group. */
  | 'storyWorkers'
  /** The agents and members assigned to this story or group. */
  | 'assignees'
  /** The author of this comment, if it is a question. */
  | 'asker';

export interface InboxDraft {
  readonly kind: InboxKind;
  readonly to: InboxRecipients;
  readonly ids: readonly string[];
  /** The key of the subject, or its id if it has no key. */
  readonly ref: string;
  readonly text: string;
  readonly next: NextCall | null;
  /**
   * The item's next call is instead to acquire the work of the recipient, if nobody holds it. `rework` also requires
   * that it was sent back.
   */
  readonly resume?: 'work' | 'rework';
  /** The item's next call while the recipient's work is held. */
  readonly nextWhileHeld?: NextCall;
  readonly projectId: string;
  readonly storyId: string | null;
  readonly executionId?: string;
  /** The comment whose current text follows the text of the item. */
  readonly commentId?: string;
}

/** The maximum length of a reviewer's note in an item. */
const maxNoteLength = 1_000;

const refOf = ({ key, id }: Subject): string => key ?? id;

type Content = Pick<InboxDraft, 'kind' | 'text' | 'next'> &
  Partial<Pick<InboxDraft, 'executionId' | 'commentId' | 'resume' | 'nextWhileHeld'>>;

/** Creates the draft for these recipients. Without ids, or outside of projects, the list is empty. */
function createDraft(
  subject: Subject,
  to: InboxRecipients,
  ids: readonly (string | null)[],
  content: Content,
): InboxDraft[] {
  const named = ids.filter((id) => id !== null);
  if (named.length === 0 || subject.projectId === null) return [];
  const storyId = subject.type === 'story' ? subject.id : null;
  return [{ to, ids: named, ref: refOf(subject), projectId: subject.projectId, storyId, ...content }];
}

/** Work is on stories and groups; other records, such as epics, cannot be acquired. */
const acquireCall = (subject: Subject): NextCall | null =>
  subject.type === 'story' || subject.type === 'delivery_group'
    ? {
        operation: 'deliveryExecutions.acquire',
        params: { targetType: subject.type, targetId: refOf(subject) },
      }
    : null;
const readContextCall = (subject: Subject): NextCall | null =>
  subject.type === 'story'
    ? { operation: 'storyCollaboration.context', params: { storyId: refOf(subject) } }
    : null;
const replyCall = (subject: Subject, rootId: string): NextCall => ({
  operation: 'comments.create',
  params: { storyId: refOf(subject), parentId: rootId },
});
const createReadExecutionCall = (executionId: string): NextCall => ({
  operation: 'deliveryExecutions.get',
  params: { executionId },
});

function mentionDrafts(
  { subject, actor }: RuleInput<EventKind>,
  data: { readonly commentId: string; readonly mentions: readonly string[] },
  rootId: string,
): InboxDraft[] {
  const content: Content = {
    kind: 'mention',
    text: `${actor.name} mentioned you on ${subjectName(subject)}`,
    next: replyCall(subject, rootId),
    commentId: data.commentId,
  };
  return [
    ...createDraft(subject, 'agents', data.mentions, content),
    ...createDraft(subject, 'members', data.mentions, content),
  ];
}

/** The items about facts of the forge, by the kind of the observation. */
const observed: Readonly<Record<string, (subject: Subject, executionId: string) => Content>> = {
  pr_merged: (subject) => ({ kind: 'merged', text: `${subjectName(subject)} was merged`, next: null }),
  checks_failed: (subject, executionId) => ({
    kind: 'checks_failed',
    text: `Checks failed for ${subjectName(subject)}`,
    next: createReadExecutionCall(executionId),
  }),
  changes_requested: (subject) => ({
    kind: 'verdict',
    text: `A reviewer at the forge requested changes on ${subjectName(subject)}`,
    next: readContextCall(subject),
    resume: 'rework',
  }),
  review_approved: (subject) => ({
    kind: 'verdict',
    text: `A reviewer at the forge approved ${subjectName(subject)}`,
    next: readContextCall(subject),
  }),
};

const specChangeDrafts = ({ subject }: RuleInput<'spec.updated' | 'spec.restored'>): InboxDraft[] =>
  createDraft(subject, 'workers', [subject.id], {
    kind: 'spec_changed',
    text: `The spec of ${subjectName(subject)} changed`,
    next: { operation: 'storySpec.get', params: { storyId: refOf(subject) } },
  });

function assigned(
  subject: Subject,
  kind: 'assigned' | 'unassigned',
  memberId: string | null,
  agentId: string | null,
): InboxDraft[] {
  const content: Content =
    kind === 'assigned'
      ? { kind, text: `${subjectName(subject)} was assigned to you`, next: acquireCall(subject) }
      : { kind, text: `${subjectName(subject)} is no longer assigned to you`, next: null };
  return [
    ...createDraft(subject, 'members', [memberId], content),
    ...createDraft(subject, 'agents', [agentId], content),
  ];
}

/** Returns the id unless it is the other id too. */
const nullIfEqual = (id: string | null, other: string | null): string | null => (id === other ? null : id);

function leaseLossDrafts(
  subject: Subject,
  holder: { readonly memberId: string; readonly agentId: string | null },
  executionId: string | null,
  text: string,
): InboxDraft[] {
  const content: Content = {
    kind: 'lease_lost',
    text,
    next: readContextCall(subject),
    ...(executionId !== null && { executionId }),
  };
  return holder.agentId === null
    ? createDraft(subject, 'members', [holder.memberId], content)
    : createDraft(subject, 'agents', [holder.agentId], content);
}

const inboxRules: EventRules<InboxDraft> = {
  'review.decided': ({ subject, data, actor }) => {
    const verb = verdictVerbs[data.verdict];
    if (verb === undefined) return [];
    const note = data.note === null ? '' : `: ${excerpt(data.note, maxNoteLength)}`;
    return createDraft(subject, 'workers', [subject.id], {
      kind: 'verdict',
      text: `${actor.name} ${verb} ${subjectName(subject)}${note}`,
      next: readContextCall(subject),
      ...(data.verdict === 'changes_requested' && data.stale !== true && { resume: 'rework' }),
    });
  },
  'execution.observed': ({ subject, data: { executionId, kind } }) => {
    const content = observed[kind]?.(subject, executionId);
    return content === undefined
      ? []
      : createDraft(subject, 'holder', [executionId], { ...content, executionId });
  },
  'execution.completed': ({ subject, data: { executionId, outcome }, actor }) =>
    outcome === 'succeeded'
      ? createDraft(subject, 'holder', [executionId], {
          kind: 'merged',
          text: `${actor.name} completed the work on ${subjectName(subject)}`,
          next: null,
          executionId,
        })
      : [],
  'execution.stopRequested': ({ subject, data: { executionId }, actor }) =>
    createDraft(subject, 'holder', [executionId], {
      kind: 'stop',
      text: `${actor.name} asks you to stop the work on ${subjectName(subject)}`,
      executionId,
      next: null,
      nextWhileHeld: { operation: 'deliveryExecutions.release', params: { executionId } },
    }),
  'execution.stopLifted': ({ subject, data: { executionId }, actor }) =>
    createDraft(subject, 'previousHolder', [executionId, actor.agentId ?? actor.memberId], {
      kind: 'stop_lifted',
      text: `${actor.name} lifted the stop of ${subjectName(subject)}`,
      executionId,
      next: null,
      resume: 'work',
    }),
  'execution.offered': ({ subject, data: { executionId, toMemberId, toAgentId }, actor }) => {
    const content: Content = {
      kind: 'offer',
      text: `${actor.name} offers you the work on ${subjectName(subject)}`,
      executionId,
      next: acquireCall(subject),
    };
    return [
      ...createDraft(subject, 'members', [toMemberId], content),
      ...createDraft(subject, 'agents', [toAgentId], content),
    ];
  },
  'execution.superseded': ({ subject, data, actor }) =>
    leaseLossDrafts(
      subject,
      { memberId: data.fromMemberId, agentId: data.fromAgentId },
      data.executionId,
      `${actor.name} ${data.joining ? 'ended your expired lease' : 'took over the work'} on ${subjectName(subject)}`,
    ),
  'lease.expired': ({ subject, data }) =>
    leaseLossDrafts(subject, data, data.executionId, `Your lease on ${subjectName(subject)} has expired`),
  'group.leaseAcquired': ({ subject, data: { fromMemberId, fromAgentId }, actor }) =>
    fromMemberId === null
      ? []
      : leaseLossDrafts(
          subject,
          { memberId: fromMemberId, agentId: fromAgentId },
          null,
          `${actor.name} took over the coordination of ${subjectName(subject)}`,
        ),
  'group.stateChanged': ({ subject, data: { to, coordinator }, actor }) => [
    ...(to === 'abandoned'
      ? createDraft(subject, 'workers', [subject.id], {
          kind: 'lease_lost',
          text: `${actor.name} abandoned ${subjectName(subject)}`,
          next: null,
        })
      : []),
    ...(coordinator === null
      ? []
      : leaseLossDrafts(
          subject,
          coordinator,
          null,
          `${actor.name} ended the coordination of ${subjectName(subject)}, which is ${to}`,
        )),
  ],
  'story.statusChanged': ({ subject, data, actor }) =>
    data.to === 'canceled'
      ? createDraft(subject, 'storyWorkers', [subject.id], {
          kind: 'lease_lost',
          text: `${actor.name} canceled ${subjectName(subject)}`,
          next: null,
        })
      : [],

  'comment.created': (input) => {
    const { subject, data, actor } = input;
    const { commentId, parentId, directedTo } = data;
    const rootId = parentId ?? commentId;
    const isQuestion = data.kind === 'question';
    const addressed: Content = {
      kind: isQuestion ? 'question' : 'mention',
      text: `${actor.name} ${isQuestion ? 'asks you a question' : 'addressed you'} on ${subjectName(subject)}`,
      next: replyCall(subject, rootId),
      commentId,
    };
    return [
      ...createDraft(subject, 'members', [directedTo], addressed),
      ...createDraft(subject, 'agents', [directedTo], addressed),
      ...createDraft(subject, 'asker', [parentId], {
        kind: 'question_answered',
        text: `${actor.name} answered your question on ${subjectName(subject)}`,
        next: readContextCall(subject),
        commentId,
      }),
      ...mentionDrafts(input, data, rootId),
    ];
  },
  // The event contains only the new mentions.
  'comment.updated': (input) => mentionDrafts(input, input.data, input.data.commentId),
  'comment.resolved': ({ subject, data: { commentId }, actor }) =>
    createDraft(subject, 'asker', [commentId], {
      kind: 'question_answered',
      text: `${actor.name} resolved your question on ${subjectName(subject)}`,
      next: readContextCall(subject),
      commentId,
    }),

  'assignment.changed': ({ subject, data }) => [
    ...assigned(
      subject,
      'assigned',
      nullIfEqual(data.memberId, data.previousMemberId),
      nullIfEqual(data.agentId, data.previousAgentId),
    ),
    ...assigned(
      subject,
      'unassigned',
      nullIfEqual(data.previousMemberId, data.memberId),
      nullIfEqual(data.previousAgentId, data.agentId),
    ),
  ],
  'assignment.cleared': ({ subject, data }) =>
    assigned(subject, 'unassigned', data.previousMemberId, data.previousAgentId),
  'story.unblocked': ({ subject }) => {
    const content: Content = {
      kind: 'unblocked',
      text: `${subjectName(subject)} is no longer blocked`,
      next: acquireCall(subject),
    };
    return [
      ...createDraft(subject, 'workers', [subject.id], { ...content, next: null, resume: 'work' }),
      ...createDraft(subject, 'assignees', [subject.id], content),
    ];
  },
  'spec.updated': specChangeDrafts,
  'spec.restored': specChangeDrafts,
};

/** Returns the inbox drafts of an event. */
export const inboxDraftsOf = (domainEvent: DomainEvent, actor: Actor): readonly InboxDraft[] =>
  applyRule(inboxRules, domainEvent, actor);
