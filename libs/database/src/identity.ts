/** Who a token is. Asked once per process and token for a while; the door asks again in every transaction. */
import { type Scope } from '@muster/registry';
import { ask } from './ask.ts';
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

/** The identity behind a token's hash; undefined for one that is unknown, revoked or expired. */
export async function identify(pool: Pool, tokenHash: Buffer): Promise<Identity | undefined> {
  const [row] = await ask(pool, sql<IdentityRow>`select * from app.identify(${tokenHash})`);
  return (
    row && {
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
    }
  );
}

/** Notes of the tokens that they were used, in this order: two processes that sort them lock rows in one order. */
export const touchTokens = async (pool: Pool, tokenHashes: readonly Buffer[]): Promise<void> => {
  await ask(pool, sql`select app.touch_tokens(${tokenHashes}::bytea[])`);
};
