/**
 * The reactions to events. Parked facts of an execution are processed again, and statuses are sent again if
 * they changed.
 */
import { type Query } from '@muster/driver';
import { type EventData } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent } from '@muster/tenancy';
import { requestReplay } from './data/parked.ts';
import { queueRepositoryIdLookup } from './data/quiet-pulls.ts';
import { requestStatusCheck, requestStatusOfExecution, requestStatusesOfStory } from './data/statuses.ts';

/**
 * Returns true if the event makes more ways available to identify an execution: its branch or its pull
 * request.
 */
const makesExecutionIdentifiable = ({ kind, data }: DomainEvent): boolean =>
  kind === 'execution.acquired' ||
  kind === 'execution.submitted' ||
  (kind === 'execution.updated' &&
    (data['fields'] as EventData<'execution.updated'>['fields']).includes('git'));

/** The events that may change the commit statuses of the work on their story. */
const storyEventKindsChangingCommitStatus: ReadonlySet<string> = new Set([
  ...['spec.updated', 'spec.restored', 'review.decided', 'review.retracted', 'reviewer.removed'],
  ...['story.gitMetaUpdated', 'assignment.changed', 'assignment.cleared'],
]);
/** The events that may change the commit status of the execution that they name. */
const executionEventKindsChangingCommitStatus: ReadonlySet<string> = new Set([
  ...['execution.observed', 'execution.submitted', 'execution.completed'],
]);
/** The events that may change the commit statuses of any work in their project or organization. */
const projectEventKindsChangingCommitStatus: ReadonlySet<string> = new Set([
  ...['lock.acquired', 'lock.released', 'policy.updated', 'member.removed', 'member.departed'],
]);

function* jobRequestsFor(domainEvent: DomainEvent): Generator<Query<unknown>> {
  const { kind, subject, data } = domainEvent;
  const executionId = data['executionId'];
  if (typeof executionId === 'string') {
    if (makesExecutionIdentifiable(domainEvent) && subject.projectId !== null)
      yield requestReplay(subject.projectId, executionId);
    if (executionEventKindsChangingCommitStatus.has(kind)) yield requestStatusOfExecution(executionId);
  }
  if (kind === 'forge.repositoryLinked') yield queueRepositoryIdLookup(String(data['connectionId']));
  // If the update added credentials, the forge can be asked for the ids of the connection's repositories.
  if (kind === 'forge.updated') yield queueRepositoryIdLookup(subject.id);
  if (storyEventKindsChangingCommitStatus.has(kind) && subject.type === 'story')
    yield requestStatusesOfStory(subject.id);
  if (projectEventKindsChangingCommitStatus.has(kind)) yield requestStatusCheck(subject.projectId);
}

export const forgeReactions: EventReaction = async ({ db, domainEvents }) => {
  for (const domainEvent of domainEvents)
    for (const query of jobRequestsFor(domainEvent)) db.deferToCommit(query);
};
