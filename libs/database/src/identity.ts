/** Who a token is. Asked once per process and token for a while; the door asks again in every transaction. */
import { type Scope } from '@muster/registry';
import { sendBurst } from './burst.ts';
import { type Pool } from './pool.ts';
import { DatabaseAway } from './organization.ts';

export interface Identity {
  readonly tokenId: string;
  readonly tokenHash: Buffer;
  readonly orgId: string;
  readonly memberId: string;
  readonly agentId: string | null;
  readonly memberName: string;
  readonly agentName: string | null;
  readonly scopes: readonly Scope[];
}

interface IdentityRow {
  token_id: string;
  org_id: string;
  member_id: string;
  agent_id: string | null;
  member_name: string;
  agent_name: string | null;
  scopes: Scope[];
}

/** The identity behind a token's hash; undefined for one that is unknown, revoked or expired. */
export async function identify(pool: Pool, tokenHash: Buffer): Promise<Identity | undefined> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new DatabaseAway(error);
  });
  let broken = true;
  try {
    const [result] = await sendBurst(client, [
      { sql: 'select * from app.identify($1)', parameters: [tokenHash] },
    ]);
    broken = false;
    const row = result?.rows[0] as IdentityRow | undefined;
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
      }
    );
  } finally {
    client.release(broken);
  }
}
