/**
 * The sessions of a member's person. They belong to no organization, so database functions control what a
 * call may read of them.
 */
import { CursorId, type Db, decodeCursor, pageOfRows, sql } from '@muster/driver';
import { notFound, type ParamsOf, type Session } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';

interface PersonSessionRow {
  readonly id: string;
  readonly is_current: boolean;
  readonly user_agent: string | null;
  readonly ip: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly expires_at: string;
}

const toSession = (row: PersonSessionRow): Session => ({
  id: row.id,
  current: row.is_current,
  userAgent: row.user_agent,
  ip: row.ip,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
});

const Cursor = z.tuple([CursorId]);

/** Lists the active sessions of the caller's person in pages, newest first. */
export async function listSessions(
  db: Db,
  { memberId, tokenId }: Caller,
  { limit, cursor }: ParamsOf<OrganizationsRegistry['sessions']['list']>,
): Promise<{ items: Session[]; nextCursor: string | null }> {
  const [before = null] = decodeCursor(cursor, Cursor) ?? [];
  const rows = await db.all(
    sql<PersonSessionRow>`select s.id, s.is_current, s.user_agent, s.ip, s.created_at, s.last_seen_at, s.expires_at
       from app.sessions_of(${memberId}::uuid, ${tokenId}::uuid, ${before}::uuid, ${limit + 1}) s`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toSession);
}

/**
 * Ends one session of the caller's person, or all except the current one. Returns the number of sessions that
 * were active. Throws 404 for a session of another person.
 */
export async function endSessions(
  db: Db,
  { memberId, tokenId }: Caller,
  sessionId: string | null,
): Promise<number> {
  const { ended } = await db.one(
    sql<{
      ended: number | null;
    }>`select app.end_sessions(${memberId}::uuid, ${tokenId}::uuid, ${sessionId}::uuid) as ended`,
  );
  if (ended === null) throw notFound();
  return ended;
}
