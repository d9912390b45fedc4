/** Who a token is. Asked once per process and token for a while; the door asks again in every transaction. */
import { type Scope } from '@muster/registry';
import { ask } from './ask.ts';
import { newId } from './id.ts';
import { askEvery, atNodeOfNow, byNode, everyOne } from './nodes.ts';
import { type Pool } from './pool.ts';
import { sql } from './sql.ts';

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
  /** The session that came in; null for a token that is sent by itself. */
  readonly session: { readonly id: string; readonly provenAt: string } | null;
}

/** What a token reaches, in one text, as app.token_reach in enter.sql words it: so the door sees that it has changed. */
export const reachOf = ({
  scopes,
  projectIds,
  mayReadInbox,
}: Pick<Identity, 'scopes' | 'projectIds' | 'mayReadInbox'>): string =>
  [scopes.join(' '), projectIds?.join(' ') ?? 'all', mayReadInbox ? 'inbox' : 'no inbox'].join('|');

interface IdentityRow {
  token_id: string;
  org_id: string;
  member_id: string;
  agent_id: string | null;
  member_name: string;
  agent_name: string | null;
  scopes: Scope[];
  project_ids: string[] | null;
  may_read_inbox: boolean;
}

const identityOf = (row: IdentityRow, tokenHash: Buffer, session: Identity['session']): Identity => ({
  tokenId: row.token_id,
  tokenHash,
  orgId: row.org_id,
  memberId: row.member_id,
  agentId: row.agent_id,
  memberName: row.member_name,
  agentName: row.agent_name,
  scopes: row.scopes,
  projectIds: row.project_ids,
  mayReadInbox: row.may_read_inbox,
  session,
});

/** The identity behind a token's hash; undefined for one that is unknown, revoked or expired. */
export async function identify(pool: Pool, tokenHash: Buffer): Promise<Identity | undefined> {
  const row = await askEvery(
    pool,
    async (at) => (await ask(at, sql<IdentityRow>`select * from app.identify(${tokenHash})`))[0],
    ({ org_id }) => org_id,
  );
  return row && identityOf(row, tokenHash, null);
}

interface SessionIdentityRow extends IdentityRow {
  session_id: string;
  proven_at: string;
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
  const [row] = await atNodeOfNow(pool, orgId, (at) =>
    ask(
      at.pool,
      sql<SessionIdentityRow>`select * from app.identify_session(${sessionHash}, ${orgId}::uuid, ${tokenHash}, ${newId()}::uuid)`,
    ),
  );
  return row && identityOf(row, tokenHash, { id: row.session_id, provenAt: row.proven_at });
}

/** A token that was used, and where it is. */
export type UsedToken = Pick<Identity, 'orgId' | 'tokenHash'>;

/** What was used of organizations whose place was looked up so long ago may be noted at the server that they left. */
const placesAgeMillis = 60_000;

/** Notes of the tokens that they were used, in this order: two processes that sort them lock rows in one order. */
export const touchTokens = async (pool: Pool, used: readonly UsedToken[]): Promise<void> => {
  const servers = await byNode(pool, used, ({ orgId }) => orgId, placesAgeMillis);
  await everyOne(
    [...servers].map(([at, those]) =>
      ask(at, sql`select app.touch_tokens(${those.map(({ tokenHash }) => tokenHash)}::bytea[])`),
    ),
  );
};
