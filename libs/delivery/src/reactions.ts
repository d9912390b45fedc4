/**
 * Signals from the board to executions. A change of a story by others is appended to the stream of the
 * execution that works on it or on its group. A change of a group is appended to the execution of that group.
 * Both happen in the transaction of the change, and the holder gets the signals in its next answer.
 */
import { type Db, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type Actor, type Subject } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent, hasRepositoryLinkedTo, workTargetsSql } from '@muster/tenancy';
import { clearHolderSql } from './data/leases.ts';
import { storyIdsOfExecutionSql } from './data/targets.ts';
import { appendEventsSql } from './leases/events.ts';
import { isInStateSql, isOpenSql } from './leases/states-sql.ts';
import { applyTransitionToManySql } from './leases/write-step.ts';
import { holderSignalKindByEvent } from './rules/signal-kinds.ts';

const isCommentResolved = ({ kind }: DomainEvent): boolean => kind === 'comment.resolved';
const isStoryCanceled = ({ kind, data }: DomainEvent): boolean =>
  kind === 'story.statusChanged' && data['to'] === 'canceled';

const isAgentQuestion = ({ kind, data }: DomainEvent, actor: Actor): boolean =>
  kind === 'comment.created' &&
  data['kind'] === 'question' &&
  data['parentId'] === null &&
  actor.agentId !== null;

/**
 * Makes the work wait for the answer to a question that its own agent asks, on the story or on a story of its
 * group. The statement locks the lease first, so that it sees a concurrent takeover.
 */
function waitForAnswerQuery(actor: Actor, { subject, data }: DomainEvent): Query<unknown> {
  const questionId = sql.part`${data['commentId']}::uuid`;
  const steps = applyTransitionToManySql('ask', {
    chosen: sql.part`(e.target_type, e.target_id) in (select o.unit_type, o.unit_id from own o)`,
    actor,
    data: sql.part`'{"fields": ["waitingFor"]}'::jsonb`,
    sets: sql.part`waiting_for = ${questionId}`,
  });
  return sql`with own as materialized (
       select l.unit_type, l.unit_id from leases l
       where ${orgFilter('l')} and (l.unit_type, l.unit_id) in (${workTargetsSql(sql.part`${subject.id}::uuid`)})
         and l.state = 'held' and l.member_id = ${actor.memberId} and l.agent_id = ${actor.agentId}
         and l.expires_at > clock_timestamp()
       order by l.unit_type, l.unit_id for share of l),
     ${steps} select from stepped`;
}

/**
 * Appends the signals to the streams. It skips resolved comments that are not questions, and executions that
 * wait for the resolved question: `hearAnswer` resumes those.
 */
const appendSignals = (actor: Actor, domainEvents: readonly DomainEvent[]) =>
  sql`with w as (select * from jsonb_to_recordset(${JSON.stringify(
    domainEvents.map((domainEvent, index) => ({
      ord: index,
      about_type: domainEvent.subject.type,
      about_id: domainEvent.subject.id,
      kind: holderSignalKindByEvent[domainEvent.kind],
      data: domainEvent.data,
      question_id: isCommentResolved(domainEvent) ? domainEvent.data['commentId'] : null,
    })),
  )}::jsonb)
         as w(ord int, about_type text, about_id uuid, kind text, data jsonb, question_id uuid)),
     t as (select e.id, w.ord, w.kind, w.data
       from w cross join lateral (
         select w.about_type as type, w.about_id as id
         union all
         select 'delivery_group', s.group_id from delivery_group_stories s
           where w.about_type = 'story' and ${orgFilter('s')} and s.story_id = w.about_id and s.open) a
       join executions e on ${orgFilter('e')} and e.target_type = a.type and e.target_id = a.id and ${isOpenSql}
       where w.question_id is null or (e.waiting_for is distinct from w.question_id and exists
         (select from comments c where ${orgFilter('c')} and c.id = w.question_id and c.kind = 'question'))),
     u as (update executions e set last_event_seq = e.last_event_seq + n.n
       from (select t.id, count(*)::int as n from t group by t.id) n
       where ${orgFilter('e')} and e.id = n.id returning e.id, e.last_event_seq - n.n as before)
     ${appendEventsSql(
       sql.part`(select t.id, u.before + row_number() over (partition by t.id order by t.ord) as seq, t.kind, t.data,
           clock_timestamp() as at
         from t join u on u.id = t.id)`,
       actor,
     )}`;

/**
 * Returns a SQL expression for the id of the oldest other open question that the lease holder asked about the
 * stories of execution `e` since the lease was granted. The value is null if there is none.
 */
const otherOpenQuestionSql = (answeredQuestionId: Part): Part => sql.part`(select c.id from leases l
  join comments c on ${orgFilter('c')} and c.author_member_id = l.member_id and c.author ->> 'agentId' = l.agent_id::text
    and c.kind = 'question' and c.parent_id is null and c.created_at >= l.granted_at
    and c.resolved_at is null and c.deleted_at is null and c.id <> ${answeredQuestionId}
    and c.story_id in (${storyIdsOfExecutionSql(sql.part`e.id`)})
  where ${orgFilter('l')} and l.unit_type = e.target_type and l.unit_id = e.target_id and l.state = 'held'
  order by c.id limit 1)`;

/**
 * Signals to waiting work that its question was answered or deleted, regardless of where the question's story
 * is now. The work resumes, or waits for another open question of its agent.
 */
function resumeAfterAnswer(db: Db, actor: Actor, waitingExecutionsSql: Part, isDeleted: boolean): void {
  // The subquery reads `waiting_for` from before this statement changes it.
  const question = sql.part`(select w.waiting_for from executions w where ${orgFilter('w')} and w.id = s.id)`;
  const data = sql.part`jsonb_build_object('commentId', ${question})${isDeleted ? sql.part` || '{"deleted": true}'` : sql.empty}`;
  const other = otherOpenQuestionSql(sql.part`e.waiting_for`);
  const waits = applyTransitionToManySql('hearFirstAnswer', {
    chosen: sql.part`${waitingExecutionsSql} and ${other} is not null`,
    ...{ actor, data, sets: sql.part`waiting_for = ${other}` },
  });
  db.deferToCommit(sql`with ${waits} select from stepped`);
  // The statement above has moved each execution with another open question to that question. The remaining
  // executions have no other open question.
  db.deferToCommit(
    sql`with ${applyTransitionToManySql('hearAnswer', { chosen: waitingExecutionsSql, actor, data })} select from stepped`,
  );
}

const isWaitingForSql = (questionId: unknown): Part =>
  sql.part`/*guard: an answer wakes who waits*/e.waiting_for = ${questionId}::uuid/*end*/`;

/**
 * Returns the condition for work on a group that waits for a question which was deleted together with its
 * story.
 */
const isWaitingForDeletedQuestionSql = ({ projectId }: Subject): Part =>
  sql.part`e.project_id = ${projectId}::uuid
    and not exists (select from comments c where ${orgFilter('c')} and c.id = e.waiting_for)`;

/** Ends the execution of a canceled story, which fences off the holder. The lease was freed before. */
function cancelWorkOnStory(actor: Actor, storyId: string): Query<unknown> {
  const steps = applyTransitionToManySql('cancel', {
    chosen: sql.part`e.target_type = 'story' and e.target_id = ${storyId}::uuid`,
    actor,
    data: sql.part`'{"outcome": "canceled"}'::jsonb`,
  });
  return sql`with ${steps} select from stepped`;
}

interface CompletedExecution {
  readonly id: string;
  readonly target_id: string;
}

/** Completes submitted work on stories that are done, in projects without a linked repository. */
function completeSubmittedWork(actor: Actor, storyIds: readonly string[]): Query<CompletedExecution> {
  const steps = applyTransitionToManySql('land', {
    chosen: sql.part`e.target_type = 'story' and e.target_id = any (${storyIds}::uuid[]) and ${isInStateSql('submitted')}
      and not ${hasRepositoryLinkedTo(sql.part`e.project_id`)}`,
    actor,
    data: sql.part`'{"outcome": "succeeded"}'::jsonb`,
  });
  return sql<CompletedExecution>`with ${steps} select id, target_id from stepped`;
}

/**
 * Completes the work on stories that moved to done, except work that the same call already completed. Returns
 * the events.
 */
async function completeWorkOnDoneStories(
  db: Db,
  actor: Actor,
  domainEvents: readonly DomainEvent[],
): Promise<DomainEvent[]> {
  const over = new Set(
    domainEvents.filter(({ kind }) => kind === 'execution.completed').map(({ subject }) => subject.id),
  );
  const done = domainEvents.filter(
    ({ kind, subject, data }) =>
      kind === 'story.statusChanged' && data['to'] === 'done' && !over.has(subject.id),
  );
  if (done.length === 0) return [];
  const about = new Map(done.map(({ subject }) => [subject.id, subject]));
  const landed = await db.all(completeSubmittedWork(actor, [...about.keys()].sort()));
  return landed.flatMap(({ id, target_id: storyId }): DomainEvent[] => {
    const subject = about.get(storyId);
    if (subject === undefined) return [];
    return [{ kind: 'execution.completed', subject, data: { executionId: id, outcome: 'succeeded' } }];
  });
}

/** Deletes the executions of a deleted story. The deletion has already checked that no holder works on it. */
const deleteExecutionsOfStory = (storyId: string): Query<unknown> =>
  sql`delete from executions where ${orgFilter()} and target_type = 'story' and target_id = ${storyId}`;

const freeLeaseOfStory = (storyId: string) =>
  sql`update leases set ${clearHolderSql}
     where ${orgFilter()} and unit_type = 'story' and unit_id = ${storyId} and /*guard: a canceled story frees its lease*/state = 'held'/*end*/`;

export const executionReactions: EventReaction = async ({ db, actor, domainEvents }) => {
  const onStories = domainEvents.filter(({ subject }) => subject.type === 'story');
  const signals = domainEvents.filter(
    ({ kind, subject: { type } }) =>
      holderSignalKindByEvent[kind] !== undefined && (type === 'story' || type === 'delivery_group'),
  );
  // Lock order, as in every transaction: leases before executions. Signals are part of the writes to
  // executions.
  const ended = onStories.filter(
    (domainEvent) => isStoryCanceled(domainEvent) || domainEvent.kind === 'story.deleted',
  );
  for (const id of ended.map(({ subject }) => subject.id).sort()) db.deferToCommit(freeLeaseOfStory(id));
  for (const domainEvent of onStories)
    if (isAgentQuestion(domainEvent, actor)) db.deferToCommit(waitForAnswerQuery(actor, domainEvent));
  if (signals.length > 0) db.deferToCommit(appendSignals(actor, signals));
  for (const domainEvent of onStories) {
    const { kind, subject, data } = domainEvent;
    if (kind === 'comment.resolved' || kind === 'comment.deleted')
      resumeAfterAnswer(db, actor, isWaitingForSql(data['commentId']), kind === 'comment.deleted');
    if (isStoryCanceled(domainEvent)) db.deferToCommit(cancelWorkOnStory(actor, subject.id));
    if (kind === 'story.deleted') {
      db.deferToCommit(deleteExecutionsOfStory(subject.id));
      resumeAfterAnswer(db, actor, isWaitingForDeletedQuestionSql(subject), true);
    }
  }
  return completeWorkOnDoneStories(db, actor, domainEvents);
};
