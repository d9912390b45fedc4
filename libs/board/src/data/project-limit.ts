/** How many projects the organization's plan allows. */
import { type Db, query, sqlQuery } from '@muster/database';
import { planLimits } from '@muster/people';

export interface ProjectRoom {
  /** Null: no limit. */
  readonly limit: number | null;
  readonly used: number;
}

/**
 * The limit and what is used of it; whoever else opens a project waits until this transaction ends, and counts
 * anew. Archived projects count: they can be brought back at any time.
 */
export async function lockProjectRoom(db: Db, orgId: string): Promise<ProjectRoom> {
  const [{ plan }, { used }] = await Promise.all([
    db.one(query.selectFrom('subscriptions').select('plan').where('org_id', '=', orgId).forNoKeyUpdate()),
    db.one(sqlQuery<{ used: number }>('select count(*) as used from projects where org_id = $1', [orgId])),
  ]);
  return { limit: planLimits(plan).projects, used };
}

export const isFull = ({ limit, used }: ProjectRoom): boolean => limit !== null && used >= limit;
