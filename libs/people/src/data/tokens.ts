import { type Db, type Param, query, statement } from '@muster/database';
import { notFound, type Token } from '@muster/registry';
import { type z } from 'zod';

const tokenById = statement((param: Param<{ orgId: string; tokenId: string }>) =>
  query
    .selectFrom('tokens')
    .select(['id', 'name', 'scopes', 'expires_at', 'agent_id'])
    .where('org_id', '=', param('orgId'))
    .where('id', '=', param('tokenId')),
);

/** What a token's holder may know of it. */
export async function getToken(db: Db, orgId: string, tokenId: string): Promise<z.infer<typeof Token>> {
  const row = await db.find(tokenById({ orgId, tokenId }));
  if (row === undefined) throw notFound();
  return { id: row.id, name: row.name, scopes: row.scopes, expiresAt: row.expires_at, agentId: row.agent_id };
}
