/**
 * The leases related to a group. Lock order, as in every transaction: leases by the ID of the story or group,
 * then executions.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { storyIdsSql } from '@muster/tenancy';
import { isOpenSql } from '../leases/states-sql.ts';
import { executionColumnList, type ExecutionRow } from './executions.ts';
import { insertMissingLeases, leaseColumnList, type LeaseRow, type UnitType } from './leases.ts';

interface GroupLeases {
  /** The lease on coordinating the group. */
  readonly coordinationLease: LeaseRow | undefined;
  /** The lease on the group's work. */
  readonly workLease: LeaseRow | undefined;
  /** The leases on the work on the given stories. */
  readonly storyLeases: readonly LeaseRow[];
}

/** Locks the group's own leases and those of the given stories. */
export async function lockGroupLeases(
  db: Db,
  groupId: string,
  storyRefs: readonly string[] = [],
): Promise<GroupLeases> {
  const rows = await db.all(
    sql<LeaseRow>`select ${leaseColumnList} from leases l
       where ${orgFilter('l')} and (
         (l.unit_type in ('coordination', 'delivery_group') and l.unit_id = ${groupId}::uuid)
         or (l.unit_type = 'story' and l.unit_id = any (array(select n.id from ${storyIdsSql(storyRefs)} n))))
       order by l.unit_type, l.unit_id for no key update`,
  );
  const on = (type: UnitType): LeaseRow | undefined => rows.find((row) => row.unit_type === type);
  return {
    coordinationLease: on('coordination'),
    workLease: on('delivery_group'),
    storyLeases: rows.filter((row) => row.unit_type === 'story'),
  };
}

/** Locks only the lease on coordinating the group. */
export const lockCoordinationLease = (db: Db, groupId: string): Promise<LeaseRow | undefined> =>
  db.find(
    sql<LeaseRow>`select ${leaseColumnList} from leases l
       where ${orgFilter('l')} and l.unit_type = 'coordination' and l.unit_id = ${groupId} for no key update`,
  );

/** Inserts the lease's row before its first grant. The row stays. */
export const insertCoordinationLease = (db: Db, groupId: string): Promise<unknown> =>
  db.all(
    insertMissingLeases(sql.part`(select 'coordination' as type, g.id, g.project_id from delivery_groups g
      where ${orgFilter('g')} and g.id = ${groupId}::uuid)`),
  );

/** Locks the open executions of these targets. Call it after locking their leases. */
export const lockOpenExecutions = (db: Db, targetIds: readonly string[]): Promise<ExecutionRow[]> =>
  db.all(
    sql<ExecutionRow>`select ${executionColumnList} from executions e
       where ${orgFilter('e')} and e.target_type in ('story', 'delivery_group') and e.target_id = any (${targetIds}::uuid[])
         and ${isOpenSql}
       order by e.id for no key update`,
  );
