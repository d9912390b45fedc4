/**
 * A verdict of a reviewer in Muster sends handed-in work back as one at the forge does: the execution needs rework until no
 * fresh request for changes is left.
 */
import { type Db, type DomainEvent, of, sql } from '@muster/database';
import { type Actor } from '@muster/registry';
import { type Reaction } from '@muster/runtime';
import { findForTarget } from './data/executions.ts';
import { isoIn } from './data/leases.ts';
import { hasFreshRequest } from './data/rework.ts';
import { isHeldState } from './leases/states.ts';
import { needsRework, reworkOf } from './rules/forge.ts';

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

/** Ends the rework that reviewers in Muster asked for; what the forge says may still ask for it. */
async function endRework(db: Db, storyId: string, isWithdrawn: boolean): Promise<void> {
  const found = await findForTarget(db, 'story', storyId);
  if (found?.execution.rework?.source !== 'muster') return;
  const { id, forge, state } = found.execution;
  // The holder who does the rework keeps its reason while the code and the spec change.
  if (isHeldState(state) && !isWithdrawn) return;
  // It is sent after the statement that withdrew the verdict or made it stale, so it no longer sees it.
  db.later(
    sql`update executions e set needs_rework = ${needsRework(forge)}, rework = ${reworkOf(forge)}::jsonb, ${touched}
      where ${of('e')} and e.id = ${id} and e.state <> 'completed' and not ${hasFreshRequest(storyId)}`,
  );
}

const asksForChanges = ({ kind, data }: DomainEvent): boolean =>
  kind === 'review.decided' && data['verdict'] === 'changes_requested' && data['stale'] !== true;

const withdrawing: ReadonlySet<string> = new Set(['review.decided', 'review.retracted', 'reviewer.removed']);
/** After these a verdict may be about an older spec or other code. */
const outdating: ReadonlySet<string> = new Set(['spec.updated', 'spec.restored', 'story.gitMetaUpdated']);

export const reworkReactions: Reaction = async ({ db, actor, domainEvents }) => {
  const more: DomainEvent[] = [];
  for (const domainEvent of domainEvents.filter(({ subject }) => subject.type === 'story')) {
    const { kind, subject, data } = domainEvent;
    if (asksForChanges(domainEvent)) {
      const work = await sendBack(db, subject.id, data['note'], actor);
      if (work !== undefined)
        more.push({ kind: 'execution.reworkRequested', subject, data: { executionId: work.id } });
    } else if (withdrawing.has(kind) || outdating.has(kind)) {
      await endRework(db, subject.id, withdrawing.has(kind));
    }
  }
  return more;
};
