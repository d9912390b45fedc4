/** Who a token is. Asked once per process and token for a while; the door asks again in every transaction. */
import { ask, newId, type Pool, sql } from '@muster/driver';
import { databaseFor, everyOne, findOnNodes, groupByNode } from '@muster/placement';
import { type Scope } from '@muster/registry';

export interface Identity {
  readonly tokenId: string;
  readonly tokenHash: Buffer;
  readonly orgId: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly memberName: string;
  readonly agentName: string | null;
  readonly scopes: readonly Scope[];
  /** The projects that the token is bound to; null: every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  /** Whether the token may read its member's notifications. */
  readonly mayReadInbox: boolean;
  /** The resource that the token was granted for by OAuth (RFC 8707); null for any other token. */
  readonly resource: string | null;
  /** The session that came in; null for a token that is sent by itself. */
  readonly session: {
    readonly id: string;
    /** By performance.now() of this process, from what the database says of the proof's age: its clock decides. */
    readonly provenAt: number;
  } | null;
}

/** What a token reaches, in one text, as app.token_reach in enter.sql words it: so the door sees that it has changed. */
export const reachOf = ({
  scopes,
  projectIds,
  mayReadInbox,
}: Pick<Identity, 'scopes' | 'projectIds' | 'mayReadInbox'>): string =>
  [scopes.join(' '), projectIds?.join(' ') ?? 'all', mayReadInbox ? 'inbox' : 'no inbox'].join('|');

type Found = Omit<Identity, 'tokenHash' | 'session' | 'resource'>;

/** What `i` answers, as a Found. */
const found = sql.part`i.token_id as "tokenId", i.org_id as "orgId", i.member_id as "memberId", i.agent_id as "agentId",
  i.member_name as "memberName", i.agent_name as "agentName", i.scopes, i.project_ids as "projectIds",
  i.may_read_inbox as "mayReadInbox"`;

/** The identity behind a token's hash; undefined for one that is unknown, revoked or expired. */
export async function identify(pool: Pool, tokenHash: Buffer): Promise<Identity | undefined> {
  const row = await findOnNodes(
    pool,
    async (at) =>
      (
        await ask(
          at,
          sql<
            Found & Pick<Identity, 'resource'>
          >`select ${found}, app.token_resource(${tokenHash}) as resource from app.identify(${tokenHash}) i`,
        )
      )[0],
    ({ orgId }) => orgId,
  );
  return row && { ...row, tokenHash, session: null };
}

/** A session on its way into an organization. */
export interface EnteringSession {
  /** Of its secret. */
  readonly sessionHash: Buffer;
  readonly orgId: string;
  /** Of its secret together with the organization: what its token there has. */
  readonly tokenHash: Buffer;
}

/** The identity of a session in an organization; undefined where it is over, or its person is not in there. */
export async function identifySession(
  pool: Pool,
  { sessionHash, orgId, tokenHash }: EnteringSession,
): Promise<Identity | undefined> {
  // No proof is taken for younger than it is: the answer needs time too.
  const askedAt = performance.now();
  const [row] = await databaseFor(pool, orgId).run(
    (at) =>
      ask(
        at.pool,
        sql<
          Found & { sessionId: string; proofAge: number }
        >`select ${found}, i.session_id as "sessionId", extract(epoch from clock_timestamp() - i.proven_at)::float8 as "proofAge"
        from app.identify_session(${sessionHash}, ${orgId}::uuid, ${tokenHash}, ${newId()}::uuid) i`,
      ),
    { isLookedUp: true },
  );
  if (row === undefined) return undefined;
  const { sessionId: id, proofAge, ...identity } = row;
  return { ...identity, tokenHash, resource: null, session: { id, provenAt: askedAt - proofAge * 1_000 } };
}

/** A token that was used, and where it is. */
export type UsedToken = Pick<Identity, 'orgId' | 'tokenHash'>;

/** What was used of organizations whose place was looked up so long ago may be noted at the server that they left. */
const placesAgeMillis = 60_000;

/** Notes of the tokens that they were used, in this order: two processes that sort them lock rows in one order. */
export const touchTokens = async (pool: Pool, used: readonly UsedToken[]): Promise<void> => {
  const servers = await groupByNode(pool, used, ({ orgId }) => orgId, placesAgeMillis);
  await everyOne(
    [...servers].map(([at, those]) =>
      ask(at, sql`select app.touch_tokens(${those.map(({ tokenHash }) => tokenHash)}::bytea[])`),
    ),
  );
};
