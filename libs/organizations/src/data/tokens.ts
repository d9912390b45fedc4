import { type Db, type DB, newId, of, organization, sql } from '@muster/database';
import { type Selectable } from 'kysely';
import { type Scope, type Token } from '@muster/registry';
import { hashToken } from '@muster/runtime';
import { type z } from 'zod';

/** What a token's holder may know of it. */
export async function getToken(db: Db, tokenId: string): Promise<z.infer<typeof Token>> {
  const row = await db.get(
    sql<
      Pick<
        Selectable<DB['tokens']>,
        'id' | 'name' | 'scopes' | 'expires_at' | 'agent_id' | 'project_ids' | 'may_read_inbox'
      >
    >`select id, name, scopes, expires_at, agent_id, project_ids, may_read_inbox from tokens where ${of()} and id = ${tokenId}`,
  );
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    expiresAt: row.expires_at,
    agentId: row.agent_id,
    projectIds: row.project_ids,
    mayReadInbox: row.agent_id === null || row.may_read_inbox,
  };
}

export interface NewToken {
  readonly secret: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Null: every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  /** Of an agent: it may read its member's notifications. */
  readonly mayReadInbox?: boolean;
  readonly expiresInDays: number;
}

/** Writes a fresh token; of its secret only the hash and the end are kept. */
export function setNewToken(db: Db, token: NewToken): Promise<{ id: string; expiresAt: string }> {
  return db.one(
    sql<{
      id: string;
      expiresAt: string;
    }>`insert into tokens (org_id, id, member_id, agent_id, name, hash, last_four, scopes, project_ids, may_read_inbox, expires_at)
       values (${organization}, ${newId()}, ${token.memberId}, ${token.agentId}, ${token.name}, ${hashToken(token.secret)}, ${token.secret.slice(-4)}, ${[...new Set(token.scopes)]}, ${token.projectIds}, ${token.mayReadInbox ?? false}, now() + make_interval(days => ${token.expiresInDays}))
       returning id, expires_at as "expiresAt"`,
  );
}
