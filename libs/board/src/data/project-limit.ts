/** The number of projects that the organization's plan allows. */
import { type Selectable } from 'kysely';
import { type Db, type DB, of, type Part, sql } from '@muster/driver';
import { planLimits } from '@muster/organizations';

export interface ProjectRoom {
  /** The maximum number of projects in the plan; null means no limit. */
  readonly limit: number | null;
  readonly used: number;
}

const roomOf = async (db: Db, lock: Part): Promise<ProjectRoom> => {
  const [{ plan }, { used }] = await Promise.all([
    db.one(
      sql<
        Pick<Selectable<DB['subscriptions']>, 'plan'>
      >`select plan from subscriptions where ${of()} ${lock}`,
    ),
    db.one(sql<{ used: number }>`select count(*) as used from projects where ${of()}`),
  ]);
  return { limit: planLimits(plan).projects, used };
};

/** Reads the limit and the current number, without a lock. Another call may create a project at any time. */
export const findProjectRoom = (db: Db): Promise<ProjectRoom> => roomOf(db, sql.empty);

/**
 * Reads the limit and the current number under a lock. Another call that creates a project waits until this
 * transaction ends, and then counts again. Archived projects count, since they can be restored at any time.
 */
export const lockProjectRoom = (db: Db): Promise<ProjectRoom> => roomOf(db, sql.part`for no key update`);

export const isFull = ({ limit, used }: ProjectRoom): boolean => limit !== null && used >= limit;
