/** The plans, and the records that their refs stand for. */
import {
  CursorId,
  type Db,
  type DB,
  decodeCursor,
  defineRecord,
  type IdOrSql,
  currentOrgId,
  orgFilter,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
} from '@muster/driver';
import { type ParamsOf, type ResultOf, type StoryPlan, type StoryStatus } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Selectable } from 'kysely';
import { z } from 'zod';

export const plans = defineRecord('plans', 'l', {
  project_id: {},
  ref: {},
  applied_by: {},
});
export type PlanRow = RowOf<typeof plans>;
export const toStoryPlan: (row: PlanRow) => StoryPlan = plans.shown;

export type PlanItemRow = Pick<
  Selectable<DB['plan_items']>,
  'kind' | 'ref' | 'record_id' | 'position' | 'base'
>;

export const findPlanByRef = (db: Db, projectId: IdOrSql, ref: string): Promise<PlanRow | undefined> =>
  db.find(
    sql<PlanRow>`select ${plans.list} from plans l where ${orgFilter('l')} and l.project_id = ${projectId} and l.ref = ${ref}`,
  );

/** Reads the items of a plan, in the order of the plan. */
export const findPlanItemsByRef = (db: Db, projectId: IdOrSql, ref: string): Promise<PlanItemRow[]> =>
  db.all(
    sql<PlanItemRow>`select i.kind, i.ref, i.record_id, i.position, i.base
       from plans l join plan_items i on ${orgFilter('i')} and i.plan_id = l.id
       where ${orgFilter('l')} and l.project_id = ${projectId} and l.ref = ${ref} order by i.position, i.ref`,
  );

/** The conditions that identify a plan `l`. */
export function planCondition(
  { projectId, planRef, planId }: ParamsOf<BoardRegistry['plans']['get']>,
  targetId: Part,
): Part {
  const conditions = [orgFilter('l')];
  if (projectId !== undefined) conditions.push(sql.part`l.project_id = ${targetId}`);
  if (planId !== undefined) conditions.push(sql.part`l.id = ${projectId === undefined ? targetId : planId}`);
  if (planRef !== undefined) conditions.push(sql.part`l.ref = ${planRef}`);
  return sql.join(conditions, ' and ');
}

export const getPlan = (db: Db, condition: Part): Promise<PlanRow> =>
  db.get(sql<PlanRow>`select ${plans.list} from plans l where ${condition}`);

/** A story's ref in a plan with the current state of the story; null if it was deleted. */
export interface PlanEntryRow {
  readonly ref: string;
  readonly story_id: string | null;
  readonly key: string | null;
  readonly title: string | null;
  readonly status: StoryStatus | null;
  readonly estimate: number | null;
  readonly blockers: readonly { readonly id: string; readonly key: string }[];
}

/** Reads the stories of a plan, in the order of the plan. */
export const findPlanEntries = (db: Db, condition: Part): Promise<PlanEntryRow[]> =>
  db.all(
    sql<PlanEntryRow>`select i.ref, s.id as story_id, p.key || '-' || s.number as key, s.title, s.status, s.estimate,
         (select coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'key', p.key || '-' || b.number) order by b.number), '[]')
           from stories b where ${orgFilter('b')} and b.id = any (s.blocked_by)) as blockers
       from plans l
       join projects p on ${orgFilter('p')} and p.id = l.project_id
       join plan_items i on ${orgFilter('i')} and i.plan_id = l.id and i.kind = 'story'
       left join stories s on ${orgFilter('s')} and s.id = i.record_id
       where ${condition} order by i.position, i.ref`,
  );

/** Reads the ids of the stories of a plan. */
export async function findPlanStoryIds(db: Db, projectId: IdOrSql, planId: string): Promise<Set<string>> {
  const rows = await db.all(
    sql<{ record_id: string }>`select i.record_id from plans l
       join plan_items i on ${orgFilter('i')} and i.plan_id = l.id and i.kind = 'story'
       where ${orgFilter('l')} and l.project_id = ${projectId} and l.id = ${planId}`,
  );
  return new Set(rows.map((row) => row.record_id));
}

/** Writes items of a plan; those that exist already are replaced. */
export const storePlanItems = (planId: string, items: readonly PlanItemRow[]): Query<unknown> =>
  sql`insert into plan_items (org_id, plan_id, kind, ref, record_id, position, base)
     select ${currentOrgId}, ${planId}::uuid, n.kind, n.ref, n.record_id, n.position, n.base
     from jsonb_to_recordset(${JSON.stringify(items)}::jsonb)
       as n(kind text, ref text, record_id uuid, position int, base jsonb)
     on conflict (org_id, plan_id, kind, ref) do update
       set record_id = excluded.record_id, position = excluded.position, base = excluded.base`;

export const deletePlanItems = (
  planId: string,
  kind: 'epic' | 'story',
  refs: readonly string[],
): Query<unknown> =>
  sql`delete from plan_items where ${orgFilter()} and plan_id = ${planId} and kind = ${kind} and ref = any (${refs}::text[])`;

const Cursor = z.tuple([CursorId]);

/** Lists a page of a project's plans, newest first. */
export async function listPlans(
  db: Db,
  projectId: IdOrSql,
  { limit, cursor }: ParamsOf<BoardRegistry['plans']['list']>,
): Promise<ResultOf<BoardRegistry['plans']['list']>> {
  const where = [orgFilter('l'), sql.part`l.project_id = ${projectId}`];
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`l.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<PlanRow>`select ${plans.list} from plans l where ${sql.join(where, ' and ')}
       order by l.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toStoryPlan);
}
