/**
 * A verdict of a reviewer in Muster sends handed-in work back as one at the forge does: the execution needs rework until no
 * fresh request for changes is left.
 */
import { type Db, type DomainEvent, of, type Part, sql } from '@muster/database';
import { type Actor } from '@muster/registry';
import { type Reaction } from '@muster/runtime';
import { findForTarget } from './data/executions.ts';
import { isoIn } from './data/leases.ts';
import { needsRework } from './rules/forge.ts';

const touched = sql.part`version = e.version + 1, updated_at = clock_timestamp()`;

interface SentBack {
  readonly id: string;
}

/** Answers the execution that was sent back; undefined where nothing is handed in. */
const sendBack = (db: Db, storyId: string, note: unknown, by: Actor): Promise<SentBack | undefined> =>
  db.find(
    sql<SentBack>`update executions e set needs_rework = true, ${touched},
         rework = jsonb_build_object('note', ${note}::text, 'by', ${JSON.stringify(by)}::jsonb,
           'at', ${isoIn(sql.part`clock_timestamp()`)}, 'source', 'muster', 'specVersion', s.spec_version,
           'headSha', s.code ->> 'headSha')
       from stories s
       where ${of('s')} and s.id = ${storyId} and ${of('e')} and e.target_type = 'story' and e.target_id = s.id
         and e.state = 'submitted' returning e.id`,
  );

/** A reviewer still asks for changes of the spec and the code as they are now. */
const isAsked = (storyId: string): Part => sql.part`exists (
  select from story_reviewers r join stories s on ${of('s')} and s.id = r.story_id
  where ${of('r')} and r.story_id = ${storyId} and r.verdict = 'changes_requested'
    and r.spec_version is not distinct from s.spec_version
    and (r.head_sha is null or r.head_sha is not distinct from s.code ->> 'headSha'))`;

/** Ends the rework that reviewers in Muster asked for; what the forge says may still ask for it. */
async function endRework(db: Db, storyId: string): Promise<void> {
  const found = await findForTarget(db, 'story', storyId);
  if (found?.execution.rework?.source !== 'muster') return;
  const { id, forge } = found.execution;
  // It is sent after the statement that withdrew the verdict, so it no longer sees it.
  db.later(
    sql`update executions e set needs_rework = ${needsRework(forge)}, rework = null, ${touched}
      where ${of('e')} and e.id = ${id} and e.state <> 'completed' and not ${isAsked(storyId)}`,
  );
}

const withdraws = ({ kind, data }: DomainEvent): boolean =>
  kind === 'review.retracted' ||
  kind === 'reviewer.removed' ||
  (kind === 'review.decided' && data['verdict'] !== 'changes_requested');

export const reworkReactions: Reaction = async ({ db, actor, domainEvents }) => {
  const more: DomainEvent[] = [];
  for (const domainEvent of domainEvents.filter(({ subject }) => subject.type === 'story')) {
    const { kind, subject, data } = domainEvent;
    if (kind === 'review.decided' && data['verdict'] === 'changes_requested') {
      const work = await sendBack(db, subject.id, data['note'], actor);
      if (work !== undefined)
        more.push({ kind: 'execution.reworkRequested', subject, data: { executionId: work.id } });
    } else if (withdraws(domainEvent)) await endRework(db, subject.id);
  }
  return more;
};
