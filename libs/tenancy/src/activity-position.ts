/** Reads the end of the organization's activity, as the position of callers who wait for what comes next. */
import { type Db, orgFilter, sql } from '@muster/driver';

/**
 * Returns the number of the newest committed event. Statements that are sent later see the effects of all
 * events up to it.
 */
export const getActivityPosition = async (db: Db): Promise<number> =>
  (await db.one(sql<{ activity: number }>`select s.activity from streams s where ${orgFilter('s')}`))
    .activity;
