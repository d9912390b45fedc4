/** The number of projects that the organization's plan allows. */
import { type Selectable } from 'kysely';
import { type Db, type DB, orgFilter, type Part, sql } from '@muster/driver';
import { planLimits } from '@muster/organizations';

export interface ProjectUsage {
  /** The maximum number of projects in the plan; null means no limit. */
  readonly limit: number | null;
  readonly used: number;
}

const readProjectUsage = async (db: Db, lockClause: Part): Promise<ProjectUsage> => {
  const [{ plan }, { used }] = await Promise.all([
    db.one(
      sql<
        Pick<Selectable<DB['subscriptions']>, 'plan'>
      >`select plan from subscriptions where ${orgFilter()} ${lockClause}`,
    ),
    db.one(sql<{ used: number }>`select count(*) as used from projects where ${orgFilter()}`),
  ]);
  return { limit: planLimits(plan).projects, used };
};

/** Reads the limit and the current number, without a lock. Another call may create a project at any time. */
export const findProjectUsage = (db: Db): Promise<ProjectUsage> => readProjectUsage(db, sql.empty);

/**
 * Reads the limit and the current number under a lock. Another call that creates a project waits until this
 * transaction ends, and then counts again. Archived projects count, since they can be restored at any time.
 */
export const lockProjectUsage = (db: Db): Promise<ProjectUsage> =>
  readProjectUsage(db, sql.part`for no key update`);

export const isProjectLimitReached = ({ limit, used }: ProjectUsage): boolean =>
  limit !== null && used >= limit;
