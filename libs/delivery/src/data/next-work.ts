/** The state of work on stories, read without locks by the search for the next story. */
import { type Db, type IdOrSql, orgFilter, currentOrgId, sql } from '@muster/driver';
import { noAgentId } from '@muster/tenancy';
import { type Holder } from '../rules/acquire.ts';
import { isInStateSql, isOpenSql } from '../leases/states-sql.ts';
import { type ExecutionRow } from './executions.ts';
import { clockColumn, isHeldWithGraceSql, leaseJson, type LeaseRow } from './leases.ts';

export interface WorkOnStory {
  readonly story_id: string;
  /** True if the story is in an open group. */
  readonly is_grouped: boolean;
  readonly lease: LeaseRow | null;
  /** The state of the open execution; null without one. */
  readonly state: ExecutionRow['state'] | null;
  readonly offer: ExecutionRow['offer'];
  readonly is_stopped: boolean;
  /** True if the work is submitted and only the forge has to act. */
  readonly awaits_forge: boolean;
  /** True if reviewers or the forge sent the work back. */
  readonly needs_rework: boolean;
  /** The holder for whom requested rework is reserved; null if any caller may take it. */
  readonly rework_for: Pick<Holder, 'memberId' | 'agentId'> | null;
  readonly now: string;
}

const awaitsForgeSql = sql.part`(${isInStateSql('submitted')} and not e.needs_rework)`;

/** The period for which rework is reserved for the previous holder. */
const reworkReservationPeriod = sql.part`interval '10 minutes'`;

/** The last holder of execution `e`, while its rework is reserved. */
const reworkReservedForSql = sql.part`(select jsonb_build_object('memberId', c.member_id, 'agentId', nullif(c.agent_id, ${noAgentId}::uuid))
  from execution_contributors c
  where ${orgFilter('c')} and c.execution_id = e.id
    and e.needs_rework and (e.rework ->> 'at')::timestamptz > clock_timestamp() - ${reworkReservationPeriod}
  order by c.attempt desc limit 1)`;

/** Reads the work on each story one by one, because the planner overestimates the length of the list. */
export const readWorkOnStories = (db: Db, storyIds: readonly string[]): Promise<WorkOnStory[]> =>
  db.all(
    sql<WorkOnStory>`select i.id as story_id, m.group_id is not null as is_grouped,
         ${leaseJson({ type: sql.part`'story'`, id: sql.part`i.id` })} as lease, e.state, e.offer,
         exists (select from executions x where ${orgFilter('x')} and x.target_type = 'story'
           and x.target_id = i.id and x.stop_requested is not null) as is_stopped,
         coalesce(${awaitsForgeSql}, false) as awaits_forge, coalesce(e.needs_rework, false) as needs_rework,
         ${reworkReservedForSql} as rework_for, ${clockColumn}
       from unnest(${storyIds}::uuid[]) i (id)
       left join lateral (select e.* from executions e
         where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = i.id and ${isOpenSql} limit 1) e on true
       left join lateral (select m.group_id from delivery_group_stories m
         where ${orgFilter('m')} and m.story_id = i.id and m.open limit 1) m on true`,
  );

/** A story whose work has begun, with the callers who get it before others. */
export type BegunStory = Pick<WorkOnStory, 'story_id' | 'offer' | 'rework_for'>;

/**
 * Finds the stories of a project whose begun work is either held or not held, newest grants first. Work whose
 * lease expired within the grace period counts as held. It reads only open work, so the project's history does
 * not matter.
 */
export function findBegunStories(
  db: Db,
  projectId: IdOrSql,
  { held, limit }: { readonly held: boolean; readonly limit: number },
): Promise<BegunStory[]> {
  const which = held
    ? isHeldWithGraceSql
    : sql.part`not coalesce(${isHeldWithGraceSql}, false) and not ${awaitsForgeSql}`;
  return db.all(
    sql<BegunStory>`with begun as materialized (
         select e.target_id, e.offer, e.needs_rework, e.rework, l.granted_at, e.id from executions e
         left join leases l on ${orgFilter('l')} and l.unit_type = 'story' and l.unit_id = e.target_id
         where ${orgFilter('e')} and e.project_id = ${projectId} and ${isOpenSql} and e.target_type = 'story' and ${which}
         order by l.granted_at desc nulls last, e.id limit ${sql.literal(limit)})
       select e.target_id as story_id, e.offer, ${reworkReservedForSql} as rework_for from begun e`,
  );
}

/** Finds the story of the project that a run took last and still holds; undefined if there is none. */
export async function findStoryHeldByRun(
  db: Db,
  projectId: IdOrSql,
  { memberId, agentId, runId }: Holder,
): Promise<string | undefined> {
  const row = await db.find(
    sql<{ unit_id: string }>`select l.unit_id from leases l
       where ${orgFilter('l')} and l.project_id = ${projectId} and l.unit_type = 'story' and l.state = 'held'
         and l.member_id = ${memberId}::uuid and l.agent_id is not distinct from ${agentId}::uuid and l.run_id = ${runId}
         and exists (select from stories s where ${orgFilter('s')} and s.id = l.unit_id and s.completed_at is null)
       order by l.granted_at desc, l.unit_id limit 1`,
  );
  return row?.unit_id;
}

/**
 * Serializes calls of one run by an advisory lock. A run that repeats an unanswered call then gets the story
 * it was already given. Calls of others do not wait.
 */
export const lockNextSearchOfRun = (
  db: Db,
  projectId: IdOrSql,
  { memberId, agentId, runId }: Holder,
): Promise<unknown> =>
  db.all(
    sql`select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'next', ${projectId}::uuid, ${memberId}::text, ${agentId}::text, ${runId}::text), 0))`,
  );

/**
 * Claims the first free story for this transaction, against other searches for the next story. The story
 * itself stays unlocked, so people can edit and move it. Returns the position of the story in `storyIds`,
 * counted from 1, or 0 if no story is free. Claimed and held stories are skipped; with `waits` it waits until
 * a claim ends.
 */
export async function claimFirstFreeStory(
  db: Db,
  storyIds: readonly string[],
  waitsForClaims: boolean,
): Promise<number> {
  const { nth } = await db.one(
    sql<{
      nth: number;
    }>`select app.claim_next(${currentOrgId}, ${storyIds}::uuid[], ${waitsForClaims}) as nth`,
  );
  return nth;
}
