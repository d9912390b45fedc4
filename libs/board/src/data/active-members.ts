/** Members whom a record of the board names. */
import { type Db, of, sql } from '@muster/database';

/** Whether this is a member of the organization today. */
export const isActiveMember = async (db: Db, memberId: string): Promise<boolean> =>
  (await db.find(sql`select id from members where ${of()} and id = ${memberId} and status = 'active'`)) !==
  undefined;
