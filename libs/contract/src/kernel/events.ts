/**
 * The domain events. A handler states one of them in one line, and the activity, the event streams,
 * notifications, gamification and webhooks are derived from it. Names are in the past tense. `data` holds
 * only facts that the subject does not contain.
 */
import { z } from 'zod';
import { Id } from './values.ts';

const noData = z.object({});
const changedFields = z.object({ fields: z.array(z.string()) });
const status = z.string();
const runData = z.object({ runId: z.string(), agentId: Id.nullable(), storyId: Id.nullable() });

export const events = {
  'project.created': noData,
  'project.updated': changedFields,
  'project.archived': noData,
  'project.unarchived': noData,
  'project.deleted': z.object({ stories: z.int() }),
  'project.converted': z.object({ localProjectId: z.string(), epics: z.int(), stories: z.int() }),
  'column.created': z.object({ status }),
  'column.updated': changedFields,
  'column.archived': z.object({ movedStories: z.int() }),
  'columns.reordered': z.object({ columnIds: z.array(Id) }),
  'epic.created': noData,
  'epic.updated': changedFields,
  'epic.deleted': noData,
  'story.created': z.object({ status }),
  'story.updated': changedFields,
  'story.statusChanged': z.object({ from: status, to: status, columnId: Id.nullable() }),
  /** The last open blocker of the story was done, canceled or deleted. */
  'story.unblocked': noData,
  /**
   * A merged pull request or a pushed commit reverted the work that was merged for the story. The story keeps
   * its status.
   */
  'story.mergeReverted': z.object({
    executionId: Id,
    /** The number of the pull request that reverts the work; null if a pushed commit reverts it. */
    number: z.int().nullable(),
    url: z.string().nullable(),
  }),
  'story.reordered': z.object({ columnId: Id }),
  'story.gitMetaUpdated': changedFields,
  'story.upstreamUpdated': z.object({ provider: z.string().nullable(), externalId: z.string().nullable() }),
  'story.deleted': noData,
  'story.restored': z.object({ status }),
  'spec.updated': z.object({ version: z.int(), linesAdded: z.int(), linesRemoved: z.int() }),
  'spec.restored': z.object({ version: z.int(), restoredVersion: z.int() }),
  'comment.created': z.object({
    commentId: Id,
    parentId: Id.nullable(),
    kind: z.string(),
    /** A member or an agent. */
    directedTo: Id.nullable(),
    /** Members and agents. */
    mentions: z.array(Id),
  }),
  'comment.updated': z.object({ commentId: Id, mentions: z.array(Id) }),
  'comment.deleted': z.object({ commentId: Id }),
  'comment.reacted': z.object({ commentId: Id, emoji: z.string(), on: z.boolean() }),
  'comment.resolved': z.object({ commentId: Id }),
  'comment.reopened': z.object({ commentId: Id }),
  'attachment.added': z.object({ attachmentId: Id, name: z.string(), attachmentKind: z.string() }),
  'attachment.deleted': z.object({ attachmentId: Id, name: z.string() }),
  // Events about the organization and its people.
  'org.updated': changedFields,
  'org.ownershipTransferred': z.object({ fromMemberId: Id, toMemberId: Id }),
  'org.deleted': z.object({ purgeAfter: z.string() }),
  'policy.updated': changedFields,
  /** An identity provider created or activated the member. */
  'member.added': noData,
  'member.updated': changedFields,
  'member.roleChanged': z.object({ from: z.string(), to: z.string() }),
  'member.removed': noData,
  'member.departed': noData,
  'invitation.created': z.object({ role: z.string() }),
  'invitation.renewed': noData,
  'invitation.revoked': noData,
  'invitation.accepted': z.object({ memberId: Id, invitedBy: Id.nullable() }),
  'team.created': noData,
  'team.updated': changedFields,
  'team.deleted': noData,
  'team.memberAdded': z.object({ memberId: Id, role: z.string() }),
  'team.memberRoleChanged': z.object({ memberId: Id, role: z.string() }),
  'team.memberRemoved': z.object({ memberId: Id }),
  // Events about access to projects.
  'project.memberAdded': z.object({ memberId: Id, role: z.string() }),
  'project.memberRemoved': z.object({ memberId: Id }),
  'project.teamAssigned': z.object({ teamId: Id, role: z.string() }),
  'project.teamUnassigned': z.object({ teamId: Id }),
  'access.requested': z.object({ accessRequestId: Id, memberId: Id, role: z.string() }),
  'access.resolved': z.object({
    accessRequestId: Id,
    memberId: Id,
    decision: z.string(),
    role: z.string(),
  }),
  // Collaboration.
  'assignment.changed': z.object({
    memberId: Id.nullable(),
    agentId: Id.nullable(),
    previousMemberId: Id.nullable(),
    previousAgentId: Id.nullable(),
  }),
  'assignment.cleared': z.object({ previousMemberId: Id.nullable(), previousAgentId: Id.nullable() }),
  'reviewer.added': z.object({ memberId: Id.nullable(), agentId: Id.nullable() }),
  'reviewer.removed': z.object({ memberId: Id.nullable(), agentId: Id.nullable() }),
  'review.decided': z.object({
    verdict: z.string(),
    note: z.string().nullable(),
    /** True if the verdict names an older spec or other code than the current one. */
    stale: z.literal(true).optional(),
  }),
  'review.retracted': z.object({ previousVerdict: z.string() }),
  'prompt.created': z.object({ slug: z.string() }),
  'prompt.updated': z.object({ slug: z.string() }),
  'prompt.deleted': z.object({ slug: z.string() }),
  'contract.published': z.object({ slug: z.string(), version: z.int() }),
  'import.started': z.object({ provider: z.string() }),
  'import.stored': z.object({ created: z.int(), updated: z.int() }),
  'import.finished': z.object({ blockers: z.int() }),
  'import.reverted': z.object({ removed: z.int() }),
  // Events about broadcasts, seats, points and forges.
  'broadcast.posted': z.object({ level: z.string(), teamId: Id.nullable() }),
  'budget.changed': z.object({ amountMicros: z.int(), currency: z.string() }),
  'budget.deleted': noData,
  /** The costs reached 80 or 100 percent of a budget. The event occurs once per percentage and period. */
  'budget.warned': z.object({
    percent: z.int(),
    amountMicros: z.int(),
    currency: z.string(),
    stops: z.boolean(),
    setById: Id.nullable(),
    /** The member whose work, or whose agent's work, was counted. */
    memberId: Id,
  }),
  'seats.changed': z.object({ from: z.int(), to: z.int() }),
  'points.cleared': z.object({ memberId: Id.nullable() }),
  'forge.connected': z.object({ kind: z.string() }),
  'forge.updated': changedFields,
  'forge.disconnected': noData,
  /**
   * The deliveries of the connection cannot be read. The event occurs once until a delivery can be read
   * again.
   */
  'forge.deliveriesFailed': noData,
  'forge.repositoryLinked': z.object({ connectionId: Id }),
  'forge.repositoryUnlinked': z.object({ connectionId: Id }),
  'webhook.created': noData,
  'webhook.updated': changedFields,
  'webhook.deleted': noData,
  'webhook.paused': z.object({ reason: z.string(), makerId: Id }),
  'webhook.resumed': noData,
  // Delivery.
  'execution.acquired': z.object({ executionId: Id, attempt: z.int(), resumed: z.boolean() }),
  'execution.superseded': z.object({
    executionId: Id,
    fromMemberId: Id,
    fromAgentId: Id.nullable(),
    live: z.boolean(),
    joining: z.boolean(),
  }),
  'execution.checkpointed': z.object({ executionId: Id, seq: z.int() }),
  'execution.updated': z.object({ executionId: Id, fields: z.array(z.string()) }),
  'execution.stopRequested': z.object({ executionId: Id }),
  'execution.stopLifted': z.object({ executionId: Id }),
  'execution.reworkRequested': z.object({ executionId: Id }),
  'execution.offered': z.object({
    executionId: Id,
    toMemberId: Id.nullable(),
    toAgentId: Id.nullable(),
  }),
  'execution.released': z.object({ executionId: Id }),
  'execution.submitted': z.object({ executionId: Id }),
  'execution.completed': z.object({
    executionId: Id,
    outcome: z.string(),
    /** The previous holder, if the work ended because another member deleted its project. */
    fromMemberId: Id.nullable().optional(),
    fromAgentId: Id.nullable().optional(),
  }),
  'execution.observed': z.object({ executionId: Id, kind: z.string() }),
  'lock.acquired': z.object({ resources: z.array(z.string()), mode: z.string() }),
  'lock.released': z.object({
    resources: z.array(z.string()),
    /** The previous holder, if another caller released the lease. */
    fromMemberId: Id.nullable(),
    fromAgentId: Id.nullable(),
  }),
  'group.created': z.object({ stories: z.int() }),
  'group.updated': changedFields,
  'group.stateChanged': z.object({
    from: status,
    to: status,
    /** The holder of the coordination lease that ended with the group. */
    coordinator: z.object({ memberId: Id, agentId: Id.nullable() }).nullable(),
  }),
  'group.storiesReplaced': z.object({ added: z.array(Id), removed: z.array(Id) }),
  'group.gitMetaUpdated': changedFields,
  'group.upstreamUpdated': z.object({ provider: z.string().nullable(), externalId: z.string().nullable() }),
  'group.leaseAcquired': z.object({
    epoch: z.int(),
    fromMemberId: Id.nullable(),
    fromAgentId: Id.nullable(),
  }),
  'group.leaseReleased': noData,
  'group.checkpointed': z.object({ seq: z.int() }),
  'run.started': runData,
  'run.completed': runData,
  'run.failed': runData,
  'run.canceled': runData,
  // The first two events concern an agent of a member, the others an agent of the catalog.
  'agent.created': z.object({ memberId: Id }),
  'agent.retired': z.object({ memberId: Id }),
  'agent.published': z.object({ slug: z.string(), version: z.string() }),
  'agent.deleted': z.object({ slug: z.string(), version: z.string().nullable() }),
  // Events about a lease on a story's execution, on a group's execution, or on a group's coordination. A
  // group's coordination has no execution.
  'lease.expired': z.object({
    unitType: z.enum(['story', 'delivery_group', 'coordination']),
    executionId: Id.nullable(),
    epoch: z.int(),
    memberId: Id,
    agentId: Id.nullable(),
    holderName: z.string(),
  }),
} as const;

export type EventKind = keyof typeof events;
export type EventData<Kind extends EventKind> = z.input<(typeof events)[Kind]>;
export const eventKinds = Object.keys(events) as [EventKind, ...EventKind[]];

type KindPrefix<Kind> = Kind extends `${infer Prefix}.${string}` ? Prefix : never;
/** A pattern such as `story.*`, which matches every kind with that prefix. */
export type EventKindPattern = `${KindPrefix<EventKind>}.*`;
export const patternOfKind = (kind: string): string => kind.replace(/\..*$/, '.*');
export const eventKindPatterns = [...new Set(eventKinds.map(patternOfKind))] as EventKindPattern[];

/** A filter of events by kind. Patterns are replaced by the kinds that they match. */
export const EventKindFilter = z
  .array(
    z.enum([...eventKinds, ...eventKindPatterns], {
      error: 'must be an event kind such as story.created, or a pattern such as story.*',
    }),
  )
  .min(1)
  .max(eventKinds.length)
  .overwrite((kinds) =>
    kinds.flatMap((kind) =>
      kind.endsWith('.*') ? eventKinds.filter((one) => patternOfKind(one) === kind) : [kind],
    ),
  );

/**
 * The subject of an event. Callers with a role in the project `projectId` can see the event. If `projectId`
 * is null, all members can.
 */
export interface Subject {
  readonly type:
    | 'project'
    | 'column'
    | 'epic'
    | 'story'
    | 'org'
    | 'member'
    | 'invitation'
    | 'team'
    | 'prompt'
    | 'contract'
    | 'import'
    | 'broadcast'
    | 'subscription'
    | 'delivery_group'
    | 'execution'
    | 'lock'
    | 'run'
    | 'forge'
    | 'repository'
    | 'agent'
    | 'webhook'
    | 'budget';
  readonly id: string;
  readonly key: string | null;
  readonly title: string;
  readonly projectId: string | null;
}

/**
 * Creates the subject of an event from a record. All members can see events of a record that belongs to no
 * project.
 */
export const subjectOf = (
  type: Subject['type'],
  { id, project_id: projectId = null }: { readonly id: string; readonly project_id?: string | null },
  title: string,
  key: string | null = null,
): Subject => ({ type, id, key, title, projectId });
