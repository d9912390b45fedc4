/** Delivery groups as stored rows and as API records. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  type Query,
  defineRecord,
  type RowOf,
  sql,
  limitToPageBytes,
} from '@muster/driver';
import { type Group, type GroupState, type Subject, subjectOf, type Trust } from '@muster/contract';
import { z } from 'zod';
import { fenceSql, leaseJson, type LeaseRow, toLease } from './leases.ts';

export const deliveryGroups = defineRecord('delivery_groups', 'g', {
  project_id: {},
  name: {},
  state: {},
  merge_strategy: {},
  git: {},
  upstream: {},
  checkpoint: {},
  checkpoint_seq: { hidden: true },
  told_seq: { hidden: true },
});
type StoredGroup = RowOf<typeof deliveryGroups>;

/** A group with its stories, their progress, and its coordinator. */
export interface GroupRow extends StoredGroup {
  readonly lease: LeaseRow | null;
  readonly story_ids: string[];
  readonly total: number;
  readonly done: number;
  readonly landed: number;
  readonly blocked: number;
}

/**
 * Returns conditions for an observed merge of the target's newest execution. Work that began again later
 * still needs a merge.
 */
const isTargetMergedSql = (type: Part, id: Part): Readonly<Record<Trust, Part>> => {
  const newestSays = (when: Part): Part => sql.part`coalesce((select ${when} is not null from executions e
    where ${orgFilter('e')} and e.target_type = ${type} and e.target_id = ${id}
    order by e.id desc limit 1), false)`;
  return {
    reported: newestSays(sql.part`e.merged_at`),
    verified: newestSays(sql.part`e.merge_verified_at`),
  };
};

const isWorkMergedSql = isTargetMergedSql(sql.part`'story'`, sql.part`s.id`);
const isWorkOfChildMergedSql = isTargetMergedSql(sql.part`'story'`, sql.part`c.id`);
const isStoryOfTrustMergedSql = (trust: Trust): Part => sql.part`(${isWorkMergedSql[trust]} or coalesce((
  select bool_and(${isWorkOfChildMergedSql[trust]}) from stories c
  where ${orgFilter('c')} and c.parent_id = s.id and c.status <> 'canceled'), false))`;
/** The merge conditions for story `s`, by trust. A parent is also merged if all its children are. */
export const isStoryMergedSql: Readonly<Record<Trust, Part>> = {
  reported: isStoryOfTrustMergedSql('reported'),
  verified: isStoryOfTrustMergedSql('verified'),
};
/** The merge conditions for group `g`, by trust. A merge of the group's work merged all of its stories. */
export const isGroupMergedSql = isTargetMergedSql(sql.part`'delivery_group'`, sql.part`g.id`);

const coordinationUnitType = sql.part`'coordination'`;
const groupLeaseJson = leaseJson({ type: coordinationUnitType, id: sql.part`g.id` });

/**
 * Returns SQL for groups with their stories and lease, from rows of delivery_groups. A group has at most 100
 * stories.
 */
const completeGroupsSql = (groupRowsSql: Part, extraColumns: Part = sql.empty): Part => sql.part`
  select ${deliveryGroups.list}${extraColumns}, m.*, ${groupLeaseJson} as lease
  from (${groupRowsSql}) g
  cross join lateral (select ${isGroupMergedSql.reported} as merged offset 0) w
  cross join lateral (
    select coalesce(array_agg(s.id order by d.position), '{}') as story_ids, count(*)::int as total,
      (count(*) filter (where s.status = 'done'))::int as done,
      (count(*) filter (where w.merged or ${isStoryMergedSql.reported}))::int as landed,
      (count(*) filter (where s.blocked is not null and s.status not in ('done', 'canceled')))::int as blocked
    from delivery_group_stories d join stories s on ${orgFilter('s')} and s.id = d.story_id
    where ${orgFilter('d')} and d.group_id = g.id) m`;

export const toGroup = (row: GroupRow, lease: LeaseRow | null = row.lease): Group => ({
  ...deliveryGroups.shown(row),
  storyIds: row.story_ids,
  lease: toLease(lease ?? undefined),
  progress: { total: row.total, done: row.done, landed: row.landed, blocked: row.blocked },
});

/** Returns the group as an event subject. */
export const groupSubject = (group: StoredGroup): Subject => subjectOf('delivery_group', group, group.name);

export function getGroup(db: Db, groupId: string): Promise<GroupRow> {
  return db.get(
    sql<GroupRow>`${completeGroupsSql(sql.part`select * from delivery_groups where ${orgFilter()} and id = ${groupId}`)}`,
  );
}

/**
 * Executes these writes and then reads the group, in one round trip. Statements of one tick run in the order
 * in which they are sent.
 */
export async function getGroupAfterWrites(
  db: Db,
  groupId: string,
  writes: readonly Query<unknown>[],
): Promise<GroupRow> {
  const written = writes.map((write) => db.all(write));
  const [group] = await Promise.all([getGroup(db, groupId), ...written]);
  return group;
}

/** Finds the open group of a story. */
export function findGroupOfStory(db: Db, storyId: IdOrSql): Promise<GroupRow | undefined> {
  return db.find(
    sql<GroupRow>`${completeGroupsSql(sql.part`select * from delivery_groups where ${orgFilter()} and id =
        (select d.group_id from delivery_group_stories d
          where ${orgFilter('d')} and d.story_id = ${storyId} and d.open)`)}`,
  );
}

/**
 * Locks the group against other writers until this transaction ends, then reads it. Lock order: groups before
 * stories.
 */
export async function lockGroup(db: Db, groupId: string): Promise<GroupRow> {
  const [, group] = await Promise.all([
    db.find(
      sql`select g.id from delivery_groups g where ${orgFilter('g')} and g.id = ${groupId} for no key update`,
    ),
    getGroup(db, groupId),
  ]);
  return group;
}

const Cursor = z.tuple([CursorId]);

/** Lists the groups of a project, newest first. */
export async function listGroups(
  db: Db,
  {
    projectId,
    state,
    limit,
    cursor,
  }: {
    readonly projectId: IdOrSql;
    readonly state?: GroupState | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<{ items: Group[]; nextCursor: string | null }> {
  const conditions = [orgFilter(), sql.part`project_id = ${projectId}`];
  if (state !== undefined) conditions.push(sql.part`state = ${state}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) conditions.push(sql.part`id < ${after[0]}::uuid`);
  const stored = sql.part`select * from delivery_groups where ${sql.join(conditions, ' and ')}
    order by id desc limit ${limit + 1}`;
  const page = limitToPageBytes(stored, sql.part`octet_length(q.checkpoint::text)`, sql.part`q.id desc`);
  const rows = await db.all(
    sql<GroupRow>`${completeGroupsSql(page, sql.part`, g.more_follow`)} order by g.id desc`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => toGroup(row),
  );
}

export type GroupChanges = Partial<Omit<StoredGroup, 'id' | 'project_id' | 'created_at'>>;

export const withoutLease = (row: GroupRow): GroupRow => ({ ...row, lease: null });

/**
 * Returns the update of these columns of a locked group. With `grant` it applies only while that grant is the
 * newest and held.
 */
export function updateGroup(
  row: GroupRow,
  columns: readonly (keyof GroupChanges)[],
  grant?: { readonly epoch: number; readonly tokenHash: Buffer },
): Query<unknown> {
  const unit = {
    type: coordinationUnitType,
    id: sql.part`delivery_groups.id`,
  };
  const fence = grant === undefined ? sql.empty : sql.part`and ${fenceSql(unit, grant)}`;
  return sql`${sql.update('delivery_groups', columns, row)}
    where ${orgFilter('delivery_groups')} and delivery_groups.id = ${row.id} ${fence}`;
}

/** Adds the columns that every change of a group writes. */
export const withChangeColumns = (columns: readonly (keyof GroupChanges)[]): (keyof GroupChanges)[] => [
  ...columns,
  'updated_at',
  'version',
];

export const insertGroup = (
  group: Pick<StoredGroup, 'id' | 'project_id' | 'name' | 'merge_strategy' | 'git' | 'created_at'>,
): Query<unknown> =>
  sql`insert into delivery_groups (org_id, id, project_id, name, merge_strategy, git, created_at, updated_at, told_seq)
     select ${currentOrgId}, ${group.id}, ${group.project_id}, ${group.name}, ${group.merge_strategy}, ${group.git}, ${group.created_at}, ${group.created_at}, t.activity from streams t where ${orgFilter('t')}`;
