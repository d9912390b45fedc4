/** What is known of work on stories by those who look for the next one, before any of it is locked. */
import { type Db, type Id, of, organization, sql } from '@muster/database';
import { type Holder } from '../rules/acquire.ts';
import { isInState, isOpenSql } from '../leases/states-sql.ts';
import { type ExecutionRow } from './executions.ts';
import { clock, leaseJson, type LeaseRow } from './leases.ts';

export interface WorkOnStory {
  readonly story_id: string;
  /** It is in an open group. */
  readonly is_grouped: boolean;
  readonly lease: LeaseRow | null;
  /** Of the execution that is not completed; null where there is none. */
  readonly state: ExecutionRow['state'] | null;
  readonly offer: ExecutionRow['offer'];
  readonly stop_requested: ExecutionRow['stop_requested'];
  /** It was handed in, and nothing has to be done about it but by the forge. */
  readonly awaits_forge: boolean;
  readonly now: string;
}

const awaitsForge = sql.part`(${isInState('submitted')} and not e.needs_rework)`;

/** One for each of the stories, read one by one: how few they are the planner does not know. */
export function readWorkOn(db: Db, storyIds: readonly string[]): Promise<WorkOnStory[]> {
  const unit = { org: sql.part`${organization}::uuid`, type: sql.part`'story'`, id: sql.part`i.id` };
  return db.all(
    sql<WorkOnStory>`select i.id as story_id, m.group_id is not null as is_grouped, ${leaseJson(unit)} as lease,
         e.state, e.offer, e.stop_requested, coalesce(${awaitsForge}, false) as awaits_forge, ${clock}
       from unnest(${storyIds}::uuid[]) i (id)
       left join lateral (select e.* from executions e
         where ${of('e')} and e.target_type = 'story' and e.target_id = i.id and ${isOpenSql} limit 1) e on true
       left join lateral (select m.group_id from delivery_group_stories m
         where ${of('m')} and m.story_id = i.id and m.open limit 1) m on true`,
  );
}

/**
 * The stories of a project on which work was begun, and that nobody holds; or those that are held, with the newest grants
 * first. Either is found among the work that is open, however much there was.
 */
export async function findBegun(
  db: Db,
  project: Id,
  { held, limit }: { readonly held: boolean; readonly limit: number },
): Promise<string[]> {
  const isHeld = sql.part`(l.state = 'held' and l.expires_at > clock_timestamp())`;
  const which = held ? isHeld : sql.part`not coalesce(${isHeld}, false) and not ${awaitsForge}`;
  const rows = await db.all(
    sql<{ target_id: string }>`select e.target_id from executions e
       left join leases l on ${of('l')} and l.unit_type = 'story' and l.unit_id = e.target_id
       where ${of('e')} and e.project_id = ${project} and ${isOpenSql} and e.target_type = 'story' and ${which}
       order by l.granted_at desc nulls last, e.id limit ${sql.literal(limit)}`,
  );
  return rows.map(({ target_id: id }) => id);
}

/** The story of the project that a run took last and holds still; undefined where it holds none. */
export async function findHeldByRun(
  db: Db,
  project: Id,
  { memberId, agentId, runId }: Holder,
): Promise<string | undefined> {
  const row = await db.find(
    sql<{ unit_id: string }>`select l.unit_id from leases l
       where ${of('l')} and l.project_id = ${project} and l.unit_type = 'story' and l.state = 'held'
         and l.member_id = ${memberId}::uuid and l.agent_id is not distinct from ${agentId}::uuid and l.run_id = ${runId}
         and exists (select from stories s where ${of('s')} and s.id = l.unit_id and s.completed_at is null)
       order by l.granted_at desc, l.unit_id limit 1`,
  );
  return row?.unit_id;
}

/** Holds a story as who moves it does, behind a savepoint: what turns out to be another's is let go of again. */
export async function holdStory(db: Db, storyId: string): Promise<void> {
  await Promise.all([
    db.all(sql`savepoint next`),
    db.all(sql`select s.id from stories s where ${of('s')} and s.id = ${storyId}::uuid for no key update`),
  ]);
}

export const letGo = (db: Db): Promise<unknown> => db.all(sql`rollback to savepoint next`);
