/** Connections of programs, as their members see them. Sign-in creates them (functions/connections.sql). */
import { CursorId, type Db, decodeCursor, orgFilter, pageOfRows, type Part, sql } from '@muster/driver';
import { type Connection, type GrantableScope, type ParamsOf } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';
import { reachableRowsCondition } from './reach.ts';

interface ClientConnectionRow {
  readonly id: string;
  readonly client_name: string;
  readonly client_host: string | null;
  readonly member_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly project_ids: string[] | null;
  readonly scopes: GrantableScope[];
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

const connectionColumns = sql.part`c.id, c.client_name, c.client_host, c.member_id, c.agent_id, a.name as agent_name, c.project_ids, c.scopes,
  c.created_at, used.last_used_at, c.expires_at, c.revoked_at`;
const connectionTables = sql.part`connections c
  join agents a on ${orgFilter('a')} and a.id = c.agent_id
  cross join lateral (select max(t.last_used_at) as last_used_at from tokens t
    where ${orgFilter('t')} and t.grant_id = c.id::text) used`;

export const toConnection = (row: ClientConnectionRow): Connection => ({
  id: row.id,
  client: { name: row.client_name, host: row.client_host },
  memberId: row.member_id,
  agent: { id: row.agent_id, name: row.agent_name },
  projectIds: row.project_ids,
  scopes: row.scopes,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
});

/**
 * Restricts a query to the connections that the caller may manage. A token bound to projects reaches only
 * connections bound to the same or fewer projects.
 */
function manageableCondition(caller: Caller): Part {
  const own = reachableRowsCondition(caller, 'c');
  if (caller.projectIds === null) return own;
  return sql.part`${own} and c.project_ids <@ ${caller.projectIds}::uuid[]`;
}

const Cursor = z.tuple([CursorId]);

/** Lists connections in pages, newest first. */
export async function listConnections(
  db: Db,
  caller: Caller,
  { memberId, agentId, includeEnded, limit, cursor }: ParamsOf<OrganizationsRegistry['connections']['list']>,
): Promise<{ items: Connection[]; nextCursor: string | null }> {
  const where = [orgFilter('c'), manageableCondition(caller)];
  if (memberId !== undefined) where.push(sql.part`c.member_id = ${memberId}`);
  if (agentId !== undefined) where.push(sql.part`c.agent_id = ${agentId}`);
  if (!includeEnded) where.push(sql.part`c.revoked_at is null and c.expires_at > now()`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`c.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<ClientConnectionRow>`select ${connectionColumns} from ${connectionTables} where ${sql.join(where, ' and ')} order by c.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toConnection);
}

/**
 * Locks a connection that the caller may manage, so that it gets no token until this transaction ends. Throws
 * 404 for any other.
 */
export const lockConnection = (db: Db, caller: Caller, id: string): Promise<ClientConnectionRow> =>
  db.get(
    sql<ClientConnectionRow>`select ${connectionColumns} from ${connectionTables} where ${orgFilter('c')} and c.id = ${id} and ${manageableCondition(caller)} for no key update of c`,
  );

/**
 * Ends a locked connection together with its tokens. The authorization check refuses these tokens after
 * COMMIT. Returns the time at which the connection ended.
 */
export const endConnection = (db: Db, { id }: ClientConnectionRow): Promise<{ revoked_at: string | null }> =>
  db.one(
    sql<{
      revoked_at: string | null;
    }>`update connections c set revoked_at = now() where ${orgFilter('c')} and c.id = ${id} returning c.revoked_at`,
  );
