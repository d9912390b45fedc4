import { type Db, newId, type Param, query, sqlQuery, statement } from '@muster/database';
import { notFound, type Scope, type Token } from '@muster/registry';
import { hashToken } from '@muster/runtime';
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

export interface NewToken {
  readonly secret: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  readonly expiresInDays: number;
}

/** Writes a fresh token; of its secret only the hash and the end are kept. */
export function setNewToken(
  db: Db,
  orgId: string,
  token: NewToken,
): Promise<{ id: string; expiresAt: string }> {
  return db.one(
    sqlQuery<{ id: string; expiresAt: string }>(
      `insert into tokens (org_id, id, member_id, agent_id, name, hash, last_four, scopes, project_ids, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(days => $10))
       returning id, expires_at as "expiresAt"`,
      [
        orgId,
        newId(),
        token.memberId,
        token.agentId,
        token.name,
        hashToken(token.secret),
        token.secret.slice(-4),
        [...new Set(token.scopes)],
        token.projectIds,
        token.expiresInDays,
      ],
    ),
  );
}
