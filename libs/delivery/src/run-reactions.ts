/**
 * Ends runs together with the work that they hold, in the same transaction. A takeover ends the run that lost
 * the work; a completion ends the run that held it.
 */
import { Outcome } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent } from '@muster/tenancy';
import {
  endRunOfExecution,
  endRunsOnStories,
  endReplacedRun,
  linkRunToExecution,
} from './data/ending-runs.ts';
import { runStateByOutcome } from './rules/run-states.ts';

const endsStory = ({ kind, subject, data }: DomainEvent): boolean =>
  subject.type === 'story' &&
  (kind === 'story.deleted' || (kind === 'story.statusChanged' && data['to'] === 'canceled'));

/**
 * Runs before the executions' reactions, because the rows of a deleted story no longer show who worked on it.
 */
export const runReactions: EventReaction = async ({ db, actor, domainEvents }) => {
  for (const { kind, data } of domainEvents) {
    const { executionId } = data;
    if (kind === 'execution.acquired') db.deferToCommit(linkRunToExecution(executionId, actor));
    if (kind === 'execution.superseded') {
      const from = { memberId: data['fromMemberId'], agentId: data['fromAgentId'] };
      db.deferToCommit(endReplacedRun(executionId, from));
    }
    if (kind === 'execution.submitted')
      db.deferToCommit(endRunOfExecution(executionId, runStateByOutcome.submitted));
    if (kind === 'execution.completed')
      db.deferToCommit(endRunOfExecution(executionId, runStateByOutcome[Outcome.parse(data['outcome'])]));
  }
  const gone = domainEvents.filter(endsStory).map(({ subject }) => subject.id);
  if (gone.length > 0) db.deferToCommit(endRunsOnStories(gone));
};
