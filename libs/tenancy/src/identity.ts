/**
 * Identifies the owner of a token. A process caches the identity for a while; the authorization check runs
 * again in every transaction.
 */
import { queryOutsideOrg, newId, type Pool, sql } from '@muster/driver';
import { databaseFor, awaitAll, findOnNodes, groupByNode } from '@muster/placement';
import { type Scope } from '@muster/contract';

export interface TokenIdentity {
  readonly tokenId: string;
  readonly tokenHash: Buffer;
  readonly orgId: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly memberName: string;
  readonly agentName: string | null;
  readonly scopes: readonly Scope[];
  /** The projects that the token is bound to. Null means every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  /** True if the token may read its member's notifications. */
  readonly mayReadInbox: boolean;
  /** The resource that the token was granted for by OAuth (RFC 8707); null for any other token. */
  readonly resource: string | null;
  /** The signed-in browser session that made the call; null if the call was made with an access token. */
  readonly session: {
    readonly id: string;
    /**
     * The time of the last proof of identity, by performance.now() of this process. It is computed from the
     * proof's age in the database, whose clock decides.
     */
    readonly provenAt: number;
  } | null;
}

/**
 * Serializes the access of a token into one string, exactly as app.token_reach in enter.sql does. The
 * authorization check compares the two to detect a change.
 */
export const serializeTokenAccess = ({
  scopes,
  projectIds,
  mayReadInbox,
}: Pick<TokenIdentity, 'scopes' | 'projectIds' | 'mayReadInbox'>): string =>
  [scopes.join(' '), projectIds?.join(' ') ?? 'all', mayReadInbox ? 'inbox' : 'no inbox'].join('|');

type IdentityRow = Omit<TokenIdentity, 'tokenHash' | 'session' | 'resource'>;

/** The columns of the alias `i` that form a value of the type Found. */
const identityColumns = sql.part`i.token_id as "tokenId", i.org_id as "orgId", i.member_id as "memberId", i.agent_id as "agentId",
  i.member_name as "memberName", i.agent_name as "agentName", i.scopes, i.project_ids as "projectIds",
  i.may_read_inbox as "mayReadInbox"`;

/** Finds the identity for a token's hash; undefined if the token is unknown, revoked or expired. */
export async function identifyToken(pool: Pool, tokenHash: Buffer): Promise<TokenIdentity | undefined> {
  const row = await findOnNodes(
    pool,
    async (at) =>
      (
        await queryOutsideOrg(
          at,
          sql<
            IdentityRow & Pick<TokenIdentity, 'resource'>
          >`select ${identityColumns}, app.token_resource(${tokenHash}) as resource from app.identify(${tokenHash}) i`,
        )
      )[0],
    ({ orgId }) => orgId,
  );
  return row && { ...row, tokenHash, session: null };
}

/** A sign-in session for which a transaction in an organization is about to begin. */
export interface EnteringSession {
  /** SHA-256 of the session's secret. */
  readonly sessionHash: Buffer;
  readonly orgId: string;
  /**
   * The hash of the session's secret together with the organization. It identifies the session's token there.
   */
  readonly tokenHash: Buffer;
}

/**
 * Finds the identity of a session in an organization; undefined if the session has ended or its person is not
 * a member there.
 */
export async function identifySession(
  pool: Pool,
  { sessionHash, orgId, tokenHash }: EnteringSession,
): Promise<TokenIdentity | undefined> {
  // The time before the query, so that a proof never counts as younger than it is: the query takes time, too.
  const askedAt = performance.now();
  const [row] = await databaseFor(pool, orgId).run(
    (at) =>
      queryOutsideOrg(
        at.pool,
        sql<
          IdentityRow & { sessionId: string; proofAge: number }
        >`select ${identityColumns}, i.session_id as "sessionId", extract(epoch from clock_timestamp() - i.proven_at)::float8 as "proofAge"
        from app.identify_session(${sessionHash}, ${orgId}::uuid, ${tokenHash}, ${newId()}::uuid) i`,
      ),
    { looksUpPlacement: true },
  );
  if (row === undefined) return undefined;
  const { sessionId: id, proofAge, ...identity } = row;
  return { ...identity, tokenHash, resource: null, session: { id, provenAt: askedAt - proofAge * 1_000 } };
}

/** A token that was used, and the organization of that token. */
export type UsedToken = Pick<TokenIdentity, 'orgId' | 'tokenHash'>;

/**
 * The maximum age of a cached placement, in milliseconds. After a move, the use of a token may still be
 * recorded on the old server for this time.
 */
const maxPlacementAgeMillis = 60_000;

/**
 * Records that the tokens were used, in this order. Processes that sort the tokens lock the rows in one order
 * and cannot deadlock.
 */
export const recordTokenUse = async (pool: Pool, usedTokens: readonly UsedToken[]): Promise<void> => {
  const servers = await groupByNode(pool, usedTokens, ({ orgId }) => orgId, maxPlacementAgeMillis);
  await awaitAll(
    [...servers].map(([at, those]) =>
      queryOutsideOrg(at, sql`select app.touch_tokens(${those.map(({ tokenHash }) => tokenHash)}::bytea[])`),
    ),
  );
};
