/** The target of work: a story or a delivery group. */
import { type Db, type Id, of, type Part, sql } from '@muster/driver';
import { type ExecutionTarget, type Subject } from '@muster/registry';
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

const storySql = sql.part`select s.id, s.project_id as "projectId", p.key || '-' || s.number as key, s.title, s.status,
    s.spec_version as "specVersion"
  from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id`;
const groupSql = sql.part`select s.id, s.project_id as "projectId", null as key, s.name as title, s.state as status,
    null::int as "specVersion"
  from delivery_groups s`;

const lockOf = {
  none: sql.empty,
  /** Locks the story's row against updates, so that the story cannot be moved until the transaction ends. */
  story: sql.part`/*guard: the story of an acquire is held*/for share of s/*end*/`,
  delivery_group: sql.part`for update of s`,
};

async function readTarget(
  db: Db,
  type: ExecutionTarget,
  id: Id,
  lock: keyof typeof lockOf,
): Promise<DeliveryTarget> {
  const row = await db.get(
    sql<Omit<DeliveryTarget, 'type'>>`${type === 'story' ? storySql : groupSql}
       where ${of('s')} and s.id = ${id} ${lockOf[lock]}`,
  );
  return { type, ...row };
}

export const getTarget = (db: Db, type: ExecutionTarget, id: Id): Promise<DeliveryTarget> =>
  readTarget(db, type, id, 'none');

/** Keeps a story from being moved, and a group from being changed, until this transaction ends. */
export const lockTarget = (db: Db, type: ExecutionTarget, id: Id): Promise<DeliveryTarget> =>
  readTarget(db, type, id, type);

/** SQL for the target of execution `e`: its JSON, and the tables that have to be joined for it. */
export const targetOfExecution = {
  json: sql.part`json_build_object('type', e.target_type, 'id', e.target_id, 'projectId', e.project_id,
      'key', p.key || '-' || s.number, 'title', coalesce(s.title, g.name),
      'status', coalesce(s.status, g.state), 'specVersion', s.spec_version)`,
  tables: sql.part`join projects p on ${of('p')} and p.id = e.project_id
     left join stories s on e.target_type = 'story' and ${of('s')} and s.id = e.target_id
     left join delivery_groups g
       on e.target_type = 'delivery_group' and ${of('g')} and g.id = e.target_id`,
} as const;

/** Reads the target of an execution. */
export async function getTargetOf(db: Db, executionId: string): Promise<DeliveryTarget> {
  const row = await db.find(
    sql<{
      target: DeliveryTarget;
    }>`select ${targetOfExecution.json} as target from executions e ${targetOfExecution.tables}
       where ${of('e')} and e.id = ${executionId}`,
  );
  if (row === undefined) throw notFound();
  return row.target;
}

/** The final statuses of stories and delivery groups. Nobody holds a lease on a target with such a status. */
const over: Readonly<Record<ExecutionTarget, readonly string[]>> = {
  story: ['done', 'canceled'],
  delivery_group: ['landed', 'abandoned'],
};

export const isOver = ({ type, status }: DeliveryTarget): boolean => over[type].includes(status);

/** Returns the target in the form in which an event of its execution names its subject. */
export const aboutTarget = ({
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
export const storiesOfExecution = (executionId: Id): Part =>
  sql.part`select x.target_id from executions x where ${of('x')} and x.id = ${executionId} and x.target_type = 'story'
    union all
    select d.story_id from executions x
      join delivery_group_stories d on d.org_id = x.org_id and d.group_id = x.target_id and d.open
      where ${of('x')} and x.id = ${executionId} and x.target_type = 'delivery_group'`;
