/** Members whom a record of the board names. */
import { type Db, sqlQuery } from '@muster/database';

/** Whether this is a member of the organization today. */
export const isActiveMember = async (db: Db, orgId: string, memberId: string): Promise<boolean> =>
  (await db.find(
    sqlQuery(`select id from members where org_id = $1 and id = $2 and status = 'active'`, [orgId, memberId]),
  )) !== undefined;
