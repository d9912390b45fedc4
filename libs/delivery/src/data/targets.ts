/** The target of work: a story or a delivery group. */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type ExecutionTarget, type Subject } from '@muster/contract';
import { notFound } from '@muster/runtime';

export interface DeliveryTarget {
  readonly type: ExecutionTarget;
  readonly id: string;
  readonly projectId: string;
  /** A story's key; null for a group. */
  readonly key: string | null;
  readonly title: string;
  /** A story's status, or a group's state. */
  readonly status: string;
  readonly specVersion: number | null;
}

const storyTargetSql = sql.part`select s.id, s.project_id as "projectId", p.key || '-' || s.number as key, s.title, s.status,
    s.spec_version as "specVersion"
  from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id`;
const groupTargetSql = sql.part`select s.id, s.project_id as "projectId", null as key, s.name as title, s.state as status,
    null::int as "specVersion"
  from delivery_groups s`;

/** Returns SQL for the project of a story or group. */
export const projectOfTargetSql = (type: ExecutionTarget, id: IdOrSql): Part =>
  type === 'story'
    ? sql.part`(select t.project_id from stories t where ${orgFilter('t')} and t.id = ${id})`
    : sql.part`(select t.project_id from delivery_groups t where ${orgFilter('t')} and t.id = ${id})`;

const lockClauses = {
  none: sql.empty,
  /** Locks the story's row against updates, so that the story cannot be moved until the transaction ends. */
  story: sql.part`/*guard: the story of an acquire is held*/for share of s/*end*/`,
  delivery_group: sql.part`for update of s`,
};

async function readTarget(
  db: Db,
  type: ExecutionTarget,
  id: IdOrSql,
  lockKind: keyof typeof lockClauses,
): Promise<DeliveryTarget> {
  const row = await db.get(
    sql<Omit<DeliveryTarget, 'type'>>`${type === 'story' ? storyTargetSql : groupTargetSql}
       where ${orgFilter('s')} and s.id = ${id} ${lockClauses[lockKind]}`,
  );
  return { type, ...row };
}

export const getTarget = (db: Db, type: ExecutionTarget, id: IdOrSql): Promise<DeliveryTarget> =>
  readTarget(db, type, id, 'none');

/** Keeps a story from being moved, and a group from being changed, until this transaction ends. */
export const lockTarget = (db: Db, type: ExecutionTarget, id: IdOrSql): Promise<DeliveryTarget> =>
  readTarget(db, type, id, type);

/** SQL for the target of execution `e`: its JSON, and the tables that have to be joined for it. */
export const executionTargetSql = {
  json: sql.part`json_build_object('type', e.target_type, 'id', e.target_id, 'projectId', e.project_id,
      'key', p.key || '-' || s.number, 'title', coalesce(s.title, g.name),
      'status', coalesce(s.status, g.state), 'specVersion', s.spec_version)`,
  tables: sql.part`join projects p on ${orgFilter('p')} and p.id = e.project_id
     left join stories s on e.target_type = 'story' and ${orgFilter('s')} and s.id = e.target_id
     left join delivery_groups g
       on e.target_type = 'delivery_group' and ${orgFilter('g')} and g.id = e.target_id`,
} as const;

/** Reads the target of an execution. */
export async function getTargetOfExecution(db: Db, executionId: string): Promise<DeliveryTarget> {
  const row = await db.find(
    sql<{
      target: DeliveryTarget;
    }>`select ${executionTargetSql.json} as target from executions e ${executionTargetSql.tables}
       where ${orgFilter('e')} and e.id = ${executionId}`,
  );
  if (row === undefined) throw notFound();
  return row.target;
}

/** The final statuses of stories and delivery groups. Nobody holds a lease on a target with such a status. */
const finalStatuses: Readonly<Record<ExecutionTarget, readonly string[]>> = {
  story: ['done', 'canceled'],
  delivery_group: ['landed', 'abandoned'],
};

export const isTargetFinished = ({ type, status }: DeliveryTarget): boolean =>
  finalStatuses[type].includes(status);

/** Returns the target in the form in which an event of its execution names its subject. */
export const targetSubject = ({
  type,
  id,
  key,
  title,
  projectId,
}: Pick<DeliveryTarget, 'type' | 'id' | 'key' | 'title' | 'projectId'>): Subject => ({
  type,
  id,
  key,
  title,
  projectId,
});

/** Returns SQL for the IDs of an execution's stories: its own, or those of its group. */
export const storyIdsOfExecutionSql = (executionId: IdOrSql): Part =>
  sql.part`select x.target_id from executions x where ${orgFilter('x')} and x.id = ${executionId} and x.target_type = 'story'
    union all
    select d.story_id from executions x
      join delivery_group_stories d on d.org_id = x.org_id and d.group_id = x.target_id and d.open
      where ${orgFilter('x')} and x.id = ${executionId} and x.target_type = 'delivery_group'`;
