/**
 * Reacts to verdicts in Muster. A request for changes returns submitted work, just as a request at the forge
 * does. The execution needs rework until no fresh request for changes is left.
 */
import { type Db, of, sql } from '@muster/driver';
import { type Actor } from '@muster/registry';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent, targetsOf } from '@muster/tenancy';
import { type ExecutionRow } from './data/executions.ts';
import { isoIn } from './data/leases.ts';
import { newestRequest } from './data/rework.ts';
import { isInState, isOpenSql } from './leases/states-sql.ts';
import { isHeldState } from './leases/states.ts';
import { needsRework, reworkOf } from './rules/forge.ts';

const touched = sql.part`version = e.version + 1, updated_at = clock_timestamp()`;

interface SentBack {
  readonly id: string;
}

/**
 * Sends submitted work of the story, or of its open group, back to its workers. Returns the executions that
 * it sent back.
 */
const sendBack = (db: Db, storyId: string, note: unknown, by: Actor): Promise<SentBack[]> =>
  db.all(
    sql<SentBack>`update executions e set needs_rework = true, ${touched},
         rework = jsonb_build_object('note', ${note}::text, 'by', ${JSON.stringify(by)}::jsonb,
           'at', ${isoIn(sql.part`clock_timestamp()`)}, 'source', 'muster', 'specVersion', s.spec_version,
           'headSha', s.code ->> 'headSha')
       from stories s cross join lateral (${targetsOf(sql.part`s.id`)}) t
       where ${of('s')} and s.id = ${storyId} and ${of('e')} and e.target_type = t.type and e.target_id = t.id
         and ${isInState('submitted')} returning e.id`,
  );

type Returned = Pick<ExecutionRow, 'id' | 'state' | 'forge'>;

/** Finds the open executions of a story or its open group that reviewers in Muster returned. */
const findReturned = (db: Db, storyId: string): Promise<Returned[]> =>
  db.all(
    sql<Returned>`select e.id, e.state, e.forge from (${targetsOf(sql.part`${storyId}::uuid`)}) t
      join executions e on ${of('e')} and e.target_type = t.type and e.target_id = t.id
      where ${isOpenSql} and e.rework ->> 'source' = 'muster' order by e.id`,
  );

/**
 * Replaces the rework by the newest request for changes that is still fresh. Without such a request, it ends
 * the rework that reviewers in Muster asked for. Reviewers at the forge may still ask for rework.
 */
async function endRework(db: Db, storyId: string, isWithdrawn: boolean): Promise<void> {
  for (const { id, forge, state } of await findReturned(db, storyId)) {
    // The holder of the rework keeps the reason for the rework while the code and the spec change.
    if (isHeldState(state) && !isWithdrawn) continue;
    // This statement runs after the statement that withdrew the verdict or made it stale, so it no longer
    // finds that verdict.
    db.later(
      sql`with f as materialized (select ${newestRequest(id)} as request)
        update executions e set needs_rework = f.request is not null or ${needsRework(forge)},
          rework = coalesce(f.request, ${reworkOf(forge)}::jsonb), ${touched}
        from f where ${of('e')} and e.id = ${id} and ${isOpenSql}
          and e.rework is distinct from coalesce(f.request, ${reworkOf(forge)}::jsonb)`,
    );
  }
}

const asksForChanges = ({ kind, data }: DomainEvent): boolean =>
  kind === 'review.decided' && data['verdict'] === 'changes_requested' && data['stale'] !== true;

const withdrawing: ReadonlySet<string> = new Set(['review.decided', 'review.retracted', 'reviewer.removed']);
/** The events after which a verdict may be about an older spec or other code. */
const outdating: ReadonlySet<string> = new Set(['spec.updated', 'spec.restored', 'story.gitMetaUpdated']);

export const reworkReactions: EventReaction = async ({ db, actor, domainEvents }) => {
  const more: DomainEvent[] = [];
  for (const domainEvent of domainEvents.filter(({ subject }) => subject.type === 'story')) {
    const { kind, subject, data } = domainEvent;
    if (asksForChanges(domainEvent)) {
      for (const { id } of await sendBack(db, subject.id, data['note'], actor))
        more.push({ kind: 'execution.reworkRequested', subject, data: { executionId: id } });
    } else if (withdrawing.has(kind) || outdating.has(kind)) {
      await endRework(db, subject.id, withdrawing.has(kind));
    }
  }
  return more;
};
