/**
 * What executions hear of the board: deeds of others on a story join the stream of the execution that works on it, or on
 * its group, in the transaction in which they happened. The holder finds them as signals in its next answer.
 */
import { type Db, type Happening, sqlQuery } from '@muster/database';
import { type EventKind, type Signal } from '@muster/registry';
import { type Reaction } from '@muster/runtime';
import { nobody } from './data/leases.ts';

/** Which signal an event on a story is. One that is not here is none. */
const signalOf: { readonly [Kind in EventKind]?: Signal['kind'] } = {
  'spec.updated': 'spec_changed',
  'spec.restored': 'spec_changed',
  'story.updated': 'story_changed',
  'story.statusChanged': 'story_changed',
  'comment.created': 'new_comments',
  'comment.resolved': 'question_answered',
  'review.decided': 'review_verdict',
};

const isQuestionAnswer = ({ kind }: Happening): boolean => kind === 'comment.resolved';

/** Appends to the streams; a resolved comment that was no question is left out. */
const appendSignals = (orgId: string, actor: unknown, happenings: readonly Happening[]) =>
  sqlQuery(
    `with w as (select * from jsonb_to_recordset($2::jsonb)
         as w(ord int, story_id uuid, kind text, data jsonb, question_id uuid)),
     t as (select e.id, w.ord, w.kind, w.data
       from w join executions e on e.org_id = $1 and e.state <> 'completed'
         and (e.target_id = w.story_id or e.target_id in
           (select s.group_id from delivery_group_stories s where s.org_id = $1 and s.story_id = w.story_id and s.open))
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
          story_id: happening.subject.id,
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

/** A story that is canceled ends its execution; the holder is fenced by that. Leases before executions, as always. */
function cancel(db: Db, orgId: string, actor: unknown, storyId: string): void {
  db.later(freeLeaseOf(orgId, storyId));
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
  db.later(freeLeaseOf(orgId, storyId));
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
  const signals = onStories.filter(({ kind }) => signalOf[kind] !== undefined);
  if (signals.length > 0) db.later(appendSignals(orgId, actor, signals));
  for (const { kind, subject, data } of onStories) {
    if (kind === 'comment.resolved') db.later(wakeWaiting(orgId, data['commentId']));
    if (kind === 'story.statusChanged' && data['to'] === 'canceled') cancel(db, orgId, actor, subject.id);
    if (kind === 'story.deleted') forget(db, orgId, subject.id);
  }
};
