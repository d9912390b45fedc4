/**
 * Measures how work went through a project, from its activity. It reads the activity of the span once, by the
 * months that the span touches. The start of each measurement is looked up by an index. The cost therefore
 * depends on the span, not on the project's history.
 */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type HealthFigures, type HealthMeasure, healthMeasures, type ResultOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';

interface HealthTimeRange {
  readonly from: string;
  readonly to: string;
}

interface HealthRow {
  /** The week of the figures; null for the row of the whole span. */
  readonly week: string | null;
  readonly starts_at: string | null;
  readonly figures: HealthFigures;
}

const measuredActivityKinds = sql.part`array['story.statusChanged', 'execution.observed', 'lease.expired', 'comment.resolved']`;
/** The kinds of observed facts that send submitted work back to its holder for changes. */
const reworkObservationKinds = sql.part`array['checks_failed', 'changes_requested', 'merge_conflict', 'pr_closed']`;
/**
 * The kinds of stream events that are steps of the work on a story. Signals to the lease holder are not
 * steps.
 */
const workStepEventKinds = sql.part`array['acquired', 'taken_over', 'superseded', 'checkpointed', 'updated', 'offered', 'released', 'submitted', 'completed']`;

/** Returns SQL for the activity entries of a story before the given entry. */
const selectActivityBefore = (entry: Part): Part =>
  sql.part`activity a where ${orgFilter('a')} and a.story_id = ${entry}.story_id and a.seq < ${entry}.seq and a.at <= ${entry}.at`;

const isMoveToDone = (entry: Part): Part =>
  sql.part`${entry}.kind = 'story.statusChanged' and ${entry}.data ->> 'to' = 'done'`;

const [activityAlias, entryAlias] = [sql.word('a'), sql.word('e')];

/**
 * SQL for the sets of `(at, seconds)` of each measure. The seconds are null if the start of the measurement
 * is unknown.
 */
const measureQueries: Readonly<Record<HealthMeasure, Part>> = {
  leadTime: sql.part`
    select e.at, extract(epoch from e.at - b.at) as seconds
    from span e left join lateral (
      select a.at from ${selectActivityBefore(entryAlias)}
        and (a.kind = 'execution.acquired' or a.kind = 'story.statusChanged' and a.data ->> 'to' = 'in_progress')
      order by a.seq limit 1) b on true
    where ${isMoveToDone(entryAlias)}`,
  landingGap: sql.part`
    select l.at, extract(epoch from l.at - l.completed_at) as seconds
    from (
      select greatest(s.completed_at, min(x.merged_at)) as at, s.completed_at
      from (
        select e.story_id from span e where ${isMoveToDone(entryAlias)}
        union select coalesce(e.story_id, g.story_id) from span e
          left join delivery_group_stories g on e.story_id is null and ${orgFilter('g')} and g.group_id = e.group_id
          where e.kind = 'execution.observed' and e.data ->> 'kind' = 'pr_merged') c
      join stories s on ${orgFilter('s')} and s.id = c.story_id and s.status = 'done'
      cross join lateral (
        select x.merged_at from executions x where ${orgFilter('x')} and x.target_type = 'story' and x.target_id = s.id and x.merged_at is not null
        union all
        select x.merged_at from delivery_group_stories g join executions x
            on ${orgFilter('x')} and x.target_type = 'delivery_group' and x.target_id = g.group_id and x.merged_at is not null
          where ${orgFilter('g')} and g.story_id = s.id) x
      group by s.id, s.completed_at) l
    where l.at >= (select p.begins from place p) and l.at < (select p.ends from place p)`,
  rework: sql.part`
    select e.at, extract(epoch from e.at - b.at) as seconds
    from span e left join lateral (
      select a.at from ${selectActivityBefore(entryAlias)} and ${isMoveToDone(activityAlias)} order by a.seq desc limit 1) b on true
    where e.kind = 'story.statusChanged' and e.data ->> 'from' = 'done' and e.data ->> 'to' <> 'canceled'
    union all
    select min(e.at), extract(epoch from min(e.at) - b.at)
    from span e cross join lateral (
      select a.at, a.seq, a.kind from ${selectActivityBefore(entryAlias)} and a.kind in ('execution.submitted', 'execution.acquired')
      order by a.seq desc limit 1) b
    where e.kind = 'execution.observed' and e.data ->> 'kind' = any (${reworkObservationKinds}) and b.kind = 'execution.submitted'
    group by e.story_id, b.seq, b.at`,
  stalledLeases: sql.part`
    select e.at, extract(epoch from n.at - e.at) as seconds
    from span e left join lateral (
      select v.at from execution_events v
      where ${orgFilter('v')} and v.execution_id = (e.data ->> 'executionId')::uuid and v.at > e.at and v.kind = any (${workStepEventKinds})
      order by v.seq limit 1) n on true
    where e.kind = 'lease.expired'`,
  waits: sql.part`
    select e.at, extract(epoch from e.at - c.created_at) as seconds
    from span e join comments c on ${orgFilter('c')} and c.id = (e.data ->> 'commentId')::uuid and c.kind = 'question'
    where e.kind = 'comment.resolved'`,
};

const selectPercentile = (measure: HealthMeasure, share: Part): Part =>
  sql.part`round(percentile_cont(${share}) within group (order by m.seconds) filter (where m.measure = ${measure}))`;

const selectDurationSummary = (measure: HealthMeasure): Part =>
  sql.part`${measure}::text, jsonb_build_object('count', count(*) filter (where m.measure = ${measure}),
    'p50', ${selectPercentile(measure, sql.part`0.5`)}, 'p90', ${selectPercentile(measure, sql.part`0.9`)})`;

export async function measureDeliveryHealth(
  db: Db,
  project: IdOrSql,
  { from, to }: HealthTimeRange,
): Promise<ResultOf<BoardRegistry['projects']['deliveryHealth']>> {
  const rows = await db.all(
    sql<HealthRow>`
      with place as materialized (select ${from}::timestamptz as begins, ${to}::timestamptz as ends),
      span as materialized (
        select e.seq, e.at, e.kind, e.story_id, e.group_id, e.data from activity e
        where ${orgFilter('e')} and e.project_id = ${project} and e.at >= ${from}::timestamptz and e.at < ${to}::timestamptz
          and e.kind = any (${measuredActivityKinds})),
      measured as (${sql.join(
        healthMeasures.map(
          (measure) =>
            sql.part`select ${measure}::text as measure, m.at, m.seconds from (${measureQueries[measure]}) m`,
        ),
        ' union all ',
      )}),
      weeks as (
        select w as monday from place p, generate_series(date_trunc('week', p.begins at time zone 'UTC'),
          date_trunc('week', (p.ends - interval '1 millisecond') at time zone 'UTC'), interval '7 days') w)
      select to_char(w.monday, 'IYYY"-W"IW') as week, w.monday at time zone 'UTC' as starts_at,
        jsonb_build_object(${sql.join(healthMeasures.map(selectDurationSummary))}) as figures
      from weeks w left join measured m on date_trunc('week', m.at at time zone 'UTC') = w.monday
      group by grouping sets ((w.monday), ())
      order by w.monday`,
  );
  const weeks = [];
  let totals: HealthFigures | undefined;
  for (const { week, starts_at: startsAt, figures } of rows) {
    if (week === null || startsAt === null) totals = figures;
    else weeks.push({ week, startsAt, ...figures });
  }
  if (totals === undefined) throw new Error('an aggregate query returned no row');
  return { weeks, totals };
}
