import { type Selectable } from 'kysely';
import {
  CursorId,
  type Db,
  type DB,
  decodeCursor,
  newId,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { type AccessToken, type ParamsOf, type Scope, type Token, unauthorized } from '@muster/contract';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type Caller, hashToken, tokenPrefixOf } from '@muster/runtime';
import { z } from 'zod';
import { reachableRowsCondition } from './reach.ts';

/** Returns the facts about a token that its own holder may read. */
export async function getToken(db: Db, tokenId: string): Promise<z.infer<typeof Token>> {
  const row = await db.get(
    sql<
      Pick<
        Selectable<DB['tokens']>,
        'id' | 'name' | 'scopes' | 'expires_at' | 'agent_id' | 'project_ids' | 'may_read_inbox'
      >
    >`select id, name, scopes, expires_at, agent_id, project_ids, may_read_inbox from tokens where ${orgFilter()} and id = ${tokenId}`,
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

const tokens = defineView(
  'tokens',
  't',
  [
    ...['id', 'name', 'kind', 'scopes', 'project_ids', 'member_id', 'agent_id', 'prefix', 'last_four'],
    ...['parent_id', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'],
  ] as const,
  ['may_read_inbox'],
);
export type TokenRow = RowOf<typeof tokens>;

export const toAccessToken = (row: TokenRow): AccessToken => ({
  ...tokens.shown(row),
  mayReadInbox: row.agent_id === null || row.may_read_inbox,
});

export interface NewToken {
  readonly secret: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The projects to which the token is bound; null for all projects that the member may see. */
  readonly projectIds: readonly string[] | null;
  /** True if the token of an agent may read its member's notifications. */
  readonly mayReadInbox?: boolean;
  readonly expiresInDays: number;
  /**
   * The id of the locked token that creates the new token. The new token ends together with it. Absent for
   * tokens that a session, an operator or an invitation creates.
   */
  readonly parentId?: string | null;
}

/**
 * Locks the calling token against revocation until COMMIT and returns its id as a parent. Returns null for a
 * session's token: tokens that were created in a session survive it. Throws 401 if the token was revoked
 * during the wait.
 */
export async function lockParentToken(db: Db, { tokenId }: Caller): Promise<string | null> {
  const own = await db.find(
    sql<{
      kind: AccessToken['kind'];
    }>`select kind from tokens where ${orgFilter()} and id = ${tokenId} and revoked_at is null for share`,
  );
  if (own === undefined) throw unauthorized();
  return own.kind === 'session' ? null : tokenId;
}

/** Inserts a new token. Only the hash of its secret, its prefix and its last four characters are stored. */
export function insertToken(db: Db, token: NewToken): Promise<TokenRow & { readonly expires_at: string }> {
  const { secret } = token;
  const { parentId = null } = token;
  const end = sql.part`now() + make_interval(days => ${token.expiresInDays})`;
  // `least` ignores null, which is the expiry of a parent that never expires.
  const expiresAt =
    parentId === null
      ? end
      : sql.part`least(${end}, (select p.expires_at from tokens p where ${orgFilter('p')} and p.id = ${parentId}))`;
  return db.one(
    sql<
      TokenRow & { readonly expires_at: string }
    >`insert into tokens as t (org_id, id, member_id, agent_id, name, hash, prefix, last_four, scopes, project_ids, may_read_inbox, parent_id, expires_at)
       values (${currentOrgId}, ${newId()}, ${token.memberId}, ${token.agentId}, ${token.name}, ${hashToken(secret)}, ${tokenPrefixOf(secret)}, ${secret.slice(-4)}, ${[...new Set(token.scopes)]}, ${token.projectIds}, ${token.mayReadInbox ?? false}, ${parentId}, ${expiresAt})
       returning ${tokens.list}`,
  );
}

/** Counts the active tokens of a member, including those of their agents, up to `enough`. */
export const countLiveTokens = async (db: Db, memberId: Part, maxCount: number): Promise<number> =>
  (
    await db.one(
      sql<{ count: number }>`select count(*) from (select from tokens t
         where ${orgFilter('t')} and t.kind = 'api' and t.member_id = ${memberId} and t.revoked_at is null
           and coalesce(t.expires_at, 'infinity'::timestamptz) > now() limit ${maxCount}) alive`,
    )
  ).count;

/**
 * Restricts a query to tokens that people create. Tokens of sessions and OAuth clients are ended by other
 * operations.
 */
const createdByPersonCondition = sql.part`t.kind = 'api'`;

/**
 * Returns a SQL condition for the tokens `t` that the caller may manage. A caller whose token is bound to
 * projects may manage only tokens that are bound to no other projects.
 */
function manageableTokensCondition(caller: Caller): Part {
  const own = sql.part`${createdByPersonCondition} and ${reachableRowsCondition(caller, 't')}`;
  if (caller.projectIds === null) return own;
  return sql.part`${own} and t.project_ids <@ ${caller.projectIds}::uuid[]`;
}

/** Locks a token that the caller may manage. Throws 404 for any other. */
export const lockToken = (db: Db, caller: Caller, tokenId: string): Promise<TokenRow> =>
  db.get(
    sql<TokenRow>`select ${tokens.list} from tokens t where ${orgFilter('t')} and t.id = ${tokenId} and ${manageableTokensCondition(caller)}
       for no key update`,
  );

/**
 * Revokes a locked token together with those that were created with it. The authorization check refuses them
 * after COMMIT.
 */
export const revokeLockedToken = (db: Db, { id }: TokenRow): Promise<TokenRow> =>
  db.one(
    sql<TokenRow>`update tokens t set revoked_at = now() where ${orgFilter('t')} and t.id = ${id} returning ${tokens.list}`,
  );

const Cursor = z.tuple([CursorId]);

/** Lists the tokens that the caller may manage in pages, newest first. */
export async function listManageableTokens(
  db: Db,
  caller: Caller,
  { memberId, agentId, includeEnded, limit, cursor }: ParamsOf<OrganizationsRegistry['tokens']['list']>,
): Promise<{ items: AccessToken[]; nextCursor: string | null }> {
  const where = [orgFilter('t'), manageableTokensCondition(caller)];
  if (memberId !== undefined) where.push(sql.part`t.member_id = ${memberId}`);
  if (agentId !== undefined) where.push(sql.part`t.agent_id = ${agentId}`);
  if (!includeEnded)
    where.push(sql.part`t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`);
  const after = decodeCursor(cursor, Cursor);
  if (after !== undefined) where.push(sql.part`t.id < ${after[0]}::uuid`);
  const rows = await db.all(
    sql<TokenRow>`select ${tokens.list} from tokens t where ${sql.join(where, ' and ')}
       order by t.id desc limit ${limit + 1}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toAccessToken);
}
