/**
 * Reacts to verdicts in Muster. A request for changes returns submitted work, just as a request at the forge
 * does. The execution needs rework until no fresh request for changes is left.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type EventReaction } from '@muster/runtime';
import { type DomainEvent, isoTimeSql, workTargetsSql } from '@muster/tenancy';
import { type ExecutionRow } from './data/executions.ts';
import { newestChangeRequestSql } from './data/rework.ts';
import { isInStateSql, isOpenSql } from './leases/states-sql.ts';
import { isHeldState } from './leases/states.ts';
import { needsRework, findRequestedRework } from './rules/forge.ts';

const bumpVersionSql = sql.part`version = e.version + 1, updated_at = clock_timestamp()`;

interface SentBackExecution {
  readonly id: string;
}

/**
 * Sends submitted work of the story, or of its open group, back to its workers. Returns the executions that
 * it sent back.
 */
const sendBackSubmittedWork = (
  db: Db,
  storyId: string,
  note: unknown,
  requestedBy: Actor,
): Promise<SentBackExecution[]> =>
  db.all(
    sql<SentBackExecution>`update executions e set needs_rework = true, ${bumpVersionSql},
         rework = jsonb_build_object('note', ${note}::text, 'by', ${JSON.stringify(requestedBy)}::jsonb,
           'at', ${isoTimeSql(sql.part`clock_timestamp()`)}, 'source', 'muster', 'specVersion', s.spec_version,
           'headSha', s.code ->> 'headSha')
       from stories s cross join lateral (${workTargetsSql(sql.part`s.id`)}) t
       where ${orgFilter('s')} and s.id = ${storyId} and ${orgFilter('e')} and e.target_type = t.type and e.target_id = t.id
         and ${isInStateSql('submitted')} returning e.id`,
  );

type ExecutionInRework = Pick<ExecutionRow, 'id' | 'state' | 'forge'>;

/** Finds the open executions of a story or its open group that reviewers in Muster returned. */
const findExecutionsInRework = (db: Db, storyId: string): Promise<ExecutionInRework[]> =>
  db.all(
    sql<ExecutionInRework>`select e.id, e.state, e.forge from (${workTargetsSql(sql.part`${storyId}::uuid`)}) t
      join executions e on ${orgFilter('e')} and e.target_type = t.type and e.target_id = t.id
      where ${isOpenSql} and e.rework ->> 'source' = 'muster' order by e.id`,
  );

/**
 * If a request for changes still applies to the current spec and code, the newest one becomes the rework.
 * Otherwise the rework that reviewers in Muster asked for ends. Rework that reviewers at the forge asked for
 * remains.
 */
async function endRework(db: Db, storyId: string, isWithdrawn: boolean): Promise<void> {
  for (const { id, forge, state } of await findExecutionsInRework(db, storyId)) {
    // The holder of the rework keeps the reason for the rework while the code and the spec change.
    if (isHeldState(state) && !isWithdrawn) continue;
    // This statement runs after the statement that withdrew the verdict or made it stale, so it no longer
    // finds that verdict.
    db.deferToCommit(
      sql`with f as materialized (select ${newestChangeRequestSql(id)} as request)
        update executions e set needs_rework = f.request is not null or ${needsRework(forge)},
          rework = coalesce(f.request, ${findRequestedRework(forge)}::jsonb), ${bumpVersionSql}
        from f where ${orgFilter('e')} and e.id = ${id} and ${isOpenSql}
          and e.rework is distinct from coalesce(f.request, ${findRequestedRework(forge)}::jsonb)`,
    );
  }
}

const isChangeRequest = ({ kind, data }: DomainEvent): boolean =>
  kind === 'review.decided' && data['verdict'] === 'changes_requested' && data['stale'] !== true;

const verdictWithdrawingKinds: ReadonlySet<string> = new Set([
  'review.decided',
  'review.retracted',
  'reviewer.removed',
]);
/** The events after which a verdict may be about an older spec or other code. */
const verdictOutdatingKinds: ReadonlySet<string> = new Set([
  'spec.updated',
  'spec.restored',
  'story.gitMetaUpdated',
]);

export const reworkReactions: EventReaction = async ({ db, actor, domainEvents }) => {
  const more: DomainEvent[] = [];
  for (const domainEvent of domainEvents.filter(({ subject }) => subject.type === 'story')) {
    const { kind, subject, data } = domainEvent;
    if (isChangeRequest(domainEvent)) {
      for (const { id } of await sendBackSubmittedWork(db, subject.id, data['note'], actor))
        more.push({ kind: 'execution.reworkRequested', subject, data: { executionId: id } });
    } else if (verdictWithdrawingKinds.has(kind) || verdictOutdatingKinds.has(kind)) {
      await endRework(db, subject.id, verdictWithdrawingKinds.has(kind));
    }
  }
  return more;
};
