/** How many projects the organization's plan allows. */
import { type Db, type DB, of, sql } from '@muster/database';
import { type Selectable } from 'kysely';
import { planLimits } from '@muster/organizations';

export interface ProjectRoom {
  /** Null: no limit. */
  readonly limit: number | null;
  readonly used: number;
}

/**
 * The limit and what is used of it; another call that opens a project waits until this transaction ends, and counts
 * anew. Archived projects count: they can be brought back at any time.
 */
export async function lockProjectRoom(db: Db): Promise<ProjectRoom> {
  const [{ plan }, { used }] = await Promise.all([
    db.one(
      sql<
        Pick<Selectable<DB['subscriptions']>, 'plan'>
      >`select plan from subscriptions where ${of()} for no key update`,
    ),
    db.one(sql<{ used: number }>`select count(*) as used from projects where ${of()}`),
  ]);
  return { limit: planLimits(plan).projects, used };
}

export const isFull = ({ limit, used }: ProjectRoom): boolean => limit !== null && used >= limit;
