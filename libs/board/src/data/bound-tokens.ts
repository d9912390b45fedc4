/** Tokens that are bound to projects. */
import { type Db, query } from '@muster/database';
import { type ApiError, type Caller, forbidden } from '@muster/runtime';

/** Whether the caller's token reaches some projects only. */
export async function isBound(db: Db, { orgId, tokenId }: Caller): Promise<boolean> {
  const token = await db.one(
    query.selectFrom('tokens').select('project_ids').where('org_id', '=', orgId).where('id', '=', tokenId),
  );
  return token.project_ids !== null;
}

/** What a bound token adds would be beyond its own reach, and widening that is not for the token itself. */
export const boundToken = (): ApiError =>
  forbidden('bound_token', 'The token is bound to projects, so it cannot add one.');
