/** Delivery groups as they are stored, and as readers see them. */
import { type Db, type DB, decodeCursor, pageOfRows, type Query, sqlQuery, Values } from '@muster/database';
import { type Group, type GroupState, isUuid, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { fencedBy, leaseJson, type LeaseRow, toLease } from './leases.ts';

type StoredGroup = Omit<Selectable<DB['delivery_groups']>, 'org_id'>;

/** A group with what is told with it: its stories, how far they are, and who coordinates. */
export interface GroupRow extends StoredGroup {
  readonly lease: LeaseRow | null;
  readonly story_ids: string[];
  readonly total: number;
  readonly done: number;
  readonly landed: number;
  readonly blocked: number;
}

const groupColumns = [
  'id',
  'project_id',
  'name',
  'state',
  'merge_strategy',
  'git',
  'upstream',
  'checkpoint',
  'checkpoint_seq',
  'told_seq',
  'created_at',
  'updated_at',
  'version',
] as const satisfies readonly (keyof StoredGroup)[];

const groupList = groupColumns.map((column) => `g.${column}`).join(', ');

/** SQL: a merge of the story's newest work was observed. Work that was begun anew since then is yet to be merged. */
export const isStoryMerged = (
  story: string,
): string => `coalesce((select e.merged_at is not null from executions e
  where e.org_id = ${story}.org_id and e.target_type = 'story' and e.target_id = ${story}.id
  order by e.id desc limit 1), false)`;

/** SQL: a merge of the group's work was observed, which landed all of its stories. */
export const isGroupMerged = (group: string): string => `exists (select from executions e
  where e.org_id = ${group}.org_id and e.target_type = 'delivery_group' and e.target_id = ${group}.id
    and e.merged_at is not null)`;

/** SQL for whole groups, from SQL for rows of delivery_groups. A group has at most 100 stories. */
const wholeGroups = (rows: string): string => `
  select ${groupList}, m.*, ${leaseJson({ org: 'g.org_id', type: `'coordination'`, id: 'g.id' })} as lease
  from (${rows}) g
  cross join lateral (select ${isGroupMerged('g')} as merged offset 0) w
  cross join lateral (
    select coalesce(array_agg(s.id order by d.position), '{}') as story_ids, count(*)::int as total,
      (count(*) filter (where s.status = 'done'))::int as done,
      (count(*) filter (where w.merged or ${isStoryMerged('s')}))::int as landed,
      (count(*) filter (where s.blocked is not null and s.status not in ('done', 'canceled')))::int as blocked
    from delivery_group_stories d join stories s on s.org_id = d.org_id and s.id = d.story_id
    where d.org_id = g.org_id and d.group_id = g.id) m`;

export const toGroup = (row: GroupRow, lease: LeaseRow | null = row.lease): Group => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  state: row.state,
  storyIds: row.story_ids,
  mergeStrategy: row.merge_strategy,
  git: row.git,
  upstream: row.upstream,
  lease: toLease(lease ?? undefined),
  checkpoint: row.checkpoint,
  progress: { total: row.total, done: row.done, landed: row.landed, blocked: row.blocked },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

/** The group as the subject of what happened to it. */
export const aboutGroup = ({ id, name, project_id: projectId }: StoredGroup): Subject => ({
  type: 'delivery_group',
  id,
  key: null,
  title: name,
  projectId,
});

export async function getGroup(db: Db, orgId: string, groupId: string): Promise<GroupRow> {
  const row = await db.find(
    sqlQuery<GroupRow>(wholeGroups('select * from delivery_groups where org_id = $1 and id = $2'), [
      orgId,
      groupId,
    ]),
  );
  if (row === undefined) throw notFound();
  return row;
}

/** The group as these writes leave it, in one round trip: statements of one tick go out in their order. */
export async function getGroupAfter(
  db: Db,
  orgId: string,
  groupId: string,
  writes: readonly Query<unknown>[],
): Promise<GroupRow> {
  const written = writes.map((write) => db.all(write));
  const [group] = await Promise.all([getGroup(db, orgId, groupId), ...written]);
  return group;
}

/** The open group that a story is in. */
export function findGroupOfStory(db: Db, orgId: string, storyRef: string): Promise<GroupRow | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<GroupRow>(
      wholeGroups(`select * from delivery_groups where org_id = ${values.org} and id =
        (select d.group_id from delivery_group_stories d
          where d.org_id = ${values.org} and d.story_id = ${values.storyId(storyRef)} and d.open)`),
      values.list,
    ),
  );
}

/** Locks the group against other writers until this transaction ends, then reads it. Groups are locked before stories. */
export async function lockGroup(db: Db, orgId: string, groupId: string): Promise<GroupRow> {
  const [, group] = await Promise.all([
    db.find(
      sqlQuery('select g.id from delivery_groups g where g.org_id = $1 and g.id = $2 for no key update', [
        orgId,
        groupId,
      ]),
    ),
    getGroup(db, orgId, groupId),
  ]);
  return group;
}

const Cursor = z.tuple([z.string().refine(isUuid)]);

/** The groups of a project, newest first. */
export async function listGroups(
  db: Db,
  orgId: string,
  {
    projectId,
    state,
    limit,
    cursor,
  }: {
    readonly projectId: string;
    readonly state?: GroupState | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<{ items: Group[]; nextCursor: string | null }> {
  const values = new Values(orgId);
  const conditions = [`org_id = ${values.org}`, `project_id = ${values.projectId(projectId)}`];
  if (state !== undefined) conditions.push(`state = ${values.$(state)}`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) conditions.push(`id < ${values.uuid(after[0])}`);
  const rows = await db.all(
    sqlQuery<GroupRow>(
      `${wholeGroups(`select * from delivery_groups where ${conditions.join(' and ')}
        order by id desc limit ${values.$(limit + 1)}`)} order by g.id desc`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => toGroup(row),
  );
}

export type GroupChanges = Partial<Omit<StoredGroup, 'id' | 'project_id' | 'created_at'>>;

/** The row after these changes: the next version, changed `at`. */
export const changedGroup = (row: GroupRow, changes: GroupChanges, at: string): GroupRow => ({
  ...row,
  ...changes,
  updated_at: at,
  version: row.version + 1,
});

/** A row with nobody's lease on it. */
export const withoutLease = (row: GroupRow): GroupRow => ({ ...row, lease: null });

/** Writes these columns of a locked group; with a grant only while that is the newest and held. */
export function setGroup(
  orgId: string,
  row: GroupRow,
  columns: readonly (keyof GroupChanges)[],
  grant?: { readonly epoch: number; readonly tokenHash: Buffer },
): Query<unknown> {
  const parameters: unknown[] = [orgId, row.id];
  const put = (value: unknown): string => `$${parameters.push(value)}`;
  const assignments = columns.map((column) => `${column} = ${put(row[column])}`);
  const fenced =
    grant === undefined
      ? ''
      : `and ${fencedBy(
          { org: 'g.org_id', type: `'coordination'`, id: 'g.id' },
          { epoch: put(grant.epoch), tokenHash: put(grant.tokenHash) },
        )}`;
  return sqlQuery(
    `update delivery_groups g set ${assignments.join(', ')} where g.org_id = $1 and g.id = $2 ${fenced}`,
    parameters,
  );
}

/** What every change to a group writes besides. */
export const asChanged = (columns: readonly (keyof GroupChanges)[]): (keyof GroupChanges)[] => [
  ...columns,
  'updated_at',
  'version',
];

export const insertGroup = (
  orgId: string,
  group: Pick<StoredGroup, 'id' | 'project_id' | 'name' | 'merge_strategy' | 'git' | 'created_at'>,
): Query<unknown> =>
  sqlQuery(
    `insert into delivery_groups (org_id, id, project_id, name, merge_strategy, git, created_at, updated_at, told_seq)
     select $1, $2, $3, $4, $5, $6, $7, $7, t.activity from streams t where t.org_id = $1`,
    [orgId, group.id, group.project_id, group.name, group.merge_strategy, group.git, group.created_at],
  );
