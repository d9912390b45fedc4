/**
 * What executions hear of the board: deeds of others on a story join the stream of the execution that works on it, or on
 * its group, and those on a group that of the execution that works on that, in the transaction in which they happened. The holder finds them as signals in its next answer.
 */
import { type Db, type Happening, sqlQuery } from '@muster/database';
import { type Reaction } from '@muster/runtime';
import { nobody } from './data/leases.ts';
import { signalOf } from './rules/signal-kinds.ts';

const isQuestionAnswer = ({ kind }: Happening): boolean => kind === 'comment.resolved';
const isCanceled = ({ kind, data }: Happening): boolean =>
  kind === 'story.statusChanged' && data['to'] === 'canceled';

/** Appends to the streams; a resolved comment that was no question is left out. */
const appendSignals = (orgId: string, actor: unknown, happenings: readonly Happening[]) =>
  sqlQuery(
    `with w as (select * from jsonb_to_recordset($2::jsonb)
         as w(ord int, about_type text, about_id uuid, kind text, data jsonb, question_id uuid)),
     t as (select e.id, w.ord, w.kind, w.data
       from w cross join lateral (
         select w.about_type as type, w.about_id as id
         union all
         select 'delivery_group', s.group_id from delivery_group_stories s
           where w.about_type = 'story' and s.org_id = $1 and s.story_id = w.about_id and s.open) a
       join executions e on e.org_id = $1 and e.target_type = a.type and e.target_id = a.id and e.state <> 'completed'
       where w.question_id is null or exists
         (select from comments c where c.org_id = $1 and c.id = w.question_id and c.kind = 'question')),
     u as (update executions e set last_event_seq = e.last_event_seq + n.n
       from (select t.id, count(*)::int as n from t group by t.id) n
       where e.org_id = $1 and e.id = n.id returning e.id, e.last_event_seq - n.n as before)
     insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
     select $1, t.id, u.before + row_number() over (partition by t.id order by t.ord), t.kind, $3, t.data, clock_timestamp()
     from t join u on u.id = t.id`,
    [
      orgId,
      JSON.stringify(
        happenings.map((happening, index) => ({
          ord: index,
          about_type: happening.subject.type,
          about_id: happening.subject.id,
          kind: signalOf[happening.kind],
          data: happening.data,
          question_id: isQuestionAnswer(happening) ? happening.data['commentId'] : null,
        })),
      ),
      actor,
    ],
  );

/** Who waited for the answer goes on. */
const wakeWaiting = (orgId: string, questionId: unknown) =>
  sqlQuery(
    `update executions set state = 'leased', waiting_for = null, version = version + 1, updated_at = now()
     where org_id = $1 and waiting_for = $2 and state = 'waiting_input'`,
    [orgId, questionId],
  );

/** A question that is deleted is open no more: who waited for its answer goes on, and hears why. */
const wakeUnanswered = (orgId: string, actor: unknown, questionId: unknown) =>
  sqlQuery(
    `with x as (update executions e set state = 'leased', waiting_for = null, version = version + 1, updated_at = now(),
         last_event_seq = e.last_event_seq + 1
       where e.org_id = $1 and e.waiting_for = $2 and e.state = 'waiting_input' returning e.id, e.last_event_seq)
     insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
     select $1, x.id, x.last_event_seq, 'question_answered', $3,
       jsonb_build_object('commentId', $2::uuid, 'deleted', true), clock_timestamp() from x`,
    [orgId, questionId, actor],
  );

/** A story that is canceled ends its execution; the holder is fenced by that. Its lease is free by now. */
function cancel(db: Db, orgId: string, actor: unknown, storyId: string): void {
  db.later(
    sqlQuery(
      `with x as (update executions e set state = 'completed', outcome = 'canceled', completed_at = clock_timestamp(),
           offer = null, waiting_for = null, stop_requested = null, updated_at = now(), version = version + 1,
           last_event_seq = last_event_seq + 1
         where e.org_id = $1 and e.target_type = 'story' and e.target_id = $2 and e.state <> 'completed'
         returning e.id, e.last_event_seq),
       l as (delete from locks k using x where k.org_id = $1 and k.execution_id = x.id)
       insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
       select $1, x.id, x.last_event_seq, 'completed', $3, '{"outcome": "canceled"}', clock_timestamp() from x`,
      [orgId, storyId, actor],
    ),
  );
}

/** A story that is deleted takes its executions with it; that nobody worked on it was seen before. */
function forget(db: Db, orgId: string, storyId: string): void {
  db.later(
    sqlQuery(`delete from executions where org_id = $1 and target_type = 'story' and target_id = $2`, [
      orgId,
      storyId,
    ]),
  );
}

const freeLeaseOf = (orgId: string, storyId: string) =>
  sqlQuery(
    `update leases set ${nobody}
     where org_id = $1 and unit_type = 'story' and unit_id = $2 and state = 'held'`,
    [orgId, storyId],
  );

export const executionReactions: Reaction = async ({ db, caller, happenings }) => {
  const { orgId, actor } = caller;
  const onStories = happenings.filter(({ subject }) => subject.type === 'story');
  const signals = happenings.filter(
    ({ kind, subject: { type } }) =>
      signalOf[kind] !== undefined && (type === 'story' || type === 'delivery_group'),
  );
  // Leases before executions, signals among what is written to those, as everybody locks.
  const ended = onStories.filter((happening) => isCanceled(happening) || happening.kind === 'story.deleted');
  for (const id of ended.map(({ subject }) => subject.id).sort()) db.later(freeLeaseOf(orgId, id));
  if (signals.length > 0) db.later(appendSignals(orgId, actor, signals));
  for (const happening of onStories) {
    const { kind, subject, data } = happening;
    if (kind === 'comment.resolved') db.later(wakeWaiting(orgId, data['commentId']));
    if (kind === 'comment.deleted') db.later(wakeUnanswered(orgId, actor, data['commentId']));
    if (isCanceled(happening)) cancel(db, orgId, actor, subject.id);
    if (kind === 'story.deleted') forget(db, orgId, subject.id);
  }
};
