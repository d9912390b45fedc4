/** What is worked on: a story, or a delivery group. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { type ExecutionTarget, type Subject } from '@muster/registry';
import { notFound } from '@muster/runtime';

export interface Target {
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

/** SQL for the id of the target that a reference means. */
export const targetIdSql = (values: Values, type: ExecutionTarget, ref: string): string =>
  type === 'story' ? values.storyId(ref) : values.uuid(ref);

const storySql = `select s.id, s.project_id as "projectId", p.key || '-' || s.number as key, s.title, s.status,
    s.spec_version as "specVersion"
  from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id`;
const groupSql = `select s.id, s.project_id as "projectId", null as key, s.name as title, s.state as status,
    null as "specVersion"
  from delivery_groups s`;

type Hold = '' | 'for share of s' | 'for update of s';

async function readTarget(
  db: Db,
  orgId: string,
  type: ExecutionTarget,
  ref: string,
  hold: Hold,
): Promise<Target> {
  const values = new Values(orgId);
  const row = await db.find(
    sqlQuery<Omit<Target, 'type'>>(
      `${type === 'story' ? storySql : groupSql}
       where s.org_id = ${values.org} and s.id = ${targetIdSql(values, type, ref)} ${hold}`,
      values.list,
    ),
  );
  if (row === undefined) throw notFound();
  return { type, ...row };
}

export const getTarget = (db: Db, orgId: string, type: ExecutionTarget, ref: string): Promise<Target> =>
  readTarget(db, orgId, type, ref, '');

/** Keeps a story from being moved, and a group from being changed, until this transaction ends. */
export const lockTarget = (db: Db, orgId: string, type: ExecutionTarget, ref: string): Promise<Target> =>
  readTarget(db, orgId, type, ref, type === 'story' ? 'for share of s' : 'for update of s');

/** SQL for the target of an execution `e` as JSON, and for the tables that it is found in. */
export const targetOfExecution = {
  json: `json_build_object('type', e.target_type, 'id', e.target_id, 'projectId', e.project_id,
      'key', p.key || '-' || s.number, 'title', coalesce(s.title, g.name),
      'status', coalesce(s.status, g.state), 'specVersion', s.spec_version)`,
  tables: `join projects p on p.org_id = e.org_id and p.id = e.project_id
     left join stories s on e.target_type = 'story' and s.org_id = e.org_id and s.id = e.target_id
     left join delivery_groups g
       on e.target_type = 'delivery_group' and g.org_id = e.org_id and g.id = e.target_id`,
} as const;

/** What an execution works on. */
export async function getTargetOf(db: Db, orgId: string, executionId: string): Promise<Target> {
  const row = await db.find(
    sqlQuery<{ target: Target }>(
      `select ${targetOfExecution.json} as target from executions e ${targetOfExecution.tables}
       where e.org_id = $1 and e.id = $2`,
      [orgId, executionId],
    ),
  );
  if (row === undefined) throw notFound();
  return row.target;
}

/** Nobody works on what is over. */
const over: Readonly<Record<ExecutionTarget, readonly string[]>> = {
  story: ['done', 'canceled'],
  delivery_group: ['landed', 'abandoned'],
};

export const isOver = ({ type, status }: Target): boolean => over[type].includes(status);

/** The target as the subject of what happened to its execution. */
export const aboutTarget = ({ type, id, key, title, projectId }: Target): Subject => ({
  type,
  id,
  key,
  title,
  projectId,
});
