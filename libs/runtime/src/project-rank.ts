/**
 * Reads the exact role in the project of a call. The authorization check only knows that the role suffices.
 */
import { type Db, orgFilter, sql } from '@muster/driver';
import { notFound } from '@muster/contract';
import { type Caller } from './handle.ts';

const selectRank = ({ memberId }: Caller) =>
  sql<{ rank: number | null }>`select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank
    from projects p join members m on m.org_id = p.org_id
    where ${orgFilter('p')} and p.id = app.project_id() and m.id = ${memberId}`;

/**
 * Throws 404 if the project was deleted, or if the caller lost the role in it, since the authorization check.
 */
export async function getProjectRank(db: Db, caller: Caller): Promise<number> {
  const { rank } = await db.get(selectRank(caller));
  if (rank === null) throw notFound();
  return rank;
}
