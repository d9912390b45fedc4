/** The leases that concern a group, locked in the order in which everybody locks: leases by unit, then executions. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { executionList, type ExecutionRow } from './executions.ts';
import { insertUnits, leaseList, type LeaseRow, type UnitType } from './leases.ts';

interface GroupLeases {
  /** On coordinating the group. */
  readonly coordination: LeaseRow | undefined;
  /** On working on it. */
  readonly work: LeaseRow | undefined;
  /** On working on one of the stories asked for. */
  readonly stories: readonly LeaseRow[];
}

/** The group's own leases, and those of stories that are named. */
export async function lockGroupLeases(
  db: Db,
  orgId: string,
  groupId: string,
  storyRefs: readonly string[] = [],
): Promise<GroupLeases> {
  const values = new Values(orgId);
  const group = values.uuid(groupId);
  const rows = await db.all(
    sqlQuery<LeaseRow>(
      `select ${leaseList} from leases l
       where l.org_id = ${values.org} and (
         (l.unit_type in ('coordination', 'delivery_group') and l.unit_id = ${group})
         or (l.unit_type = 'story' and l.unit_id = any (array(select n.id from ${values.stories(storyRefs)} n))))
       order by l.unit_type, l.unit_id for no key update`,
      values.list,
    ),
  );
  const of = (type: UnitType): LeaseRow | undefined => rows.find((row) => row.unit_type === type);
  return {
    coordination: of('coordination'),
    work: of('delivery_group'),
    stories: rows.filter((row) => row.unit_type === 'story'),
  };
}

/** The lease on coordinating the group alone. */
export const lockCoordination = (db: Db, orgId: string, groupId: string): Promise<LeaseRow | undefined> =>
  db.find(
    sqlQuery<LeaseRow>(
      `select ${leaseList} from leases l
       where l.org_id = $1 and l.unit_type = 'coordination' and l.unit_id = $2 for no key update`,
      [orgId, groupId],
    ),
  );

/** The lease's row comes to be with its first grant, and stays. */
export const insertCoordination = (db: Db, orgId: string, groupId: string): Promise<unknown> => {
  const values = new Values(orgId);
  const text = insertUnits(
    values,
    `(select 'coordination' as type, g.id, g.project_id from delivery_groups g
      where g.org_id = ${values.org} and g.id = ${values.uuid(groupId)})`,
  );
  return db.all(sqlQuery(text, values.list));
};

/** The executions of these targets that are not completed; behind their leases. */
export const lockOpenExecutions = (
  db: Db,
  orgId: string,
  targetIds: readonly string[],
): Promise<ExecutionRow[]> =>
  db.all(
    sqlQuery<ExecutionRow>(
      `select ${executionList} from executions e
       where e.org_id = $1 and e.target_type in ('story', 'delivery_group') and e.target_id = any ($2::uuid[])
         and e.state <> 'completed'
       order by e.id for no key update`,
      [orgId, targetIds],
    ),
  );
