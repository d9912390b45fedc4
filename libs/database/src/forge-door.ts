/** Of which organization a connection to a forge is, for a delivery, which has no token. */
import { type ForgeKind } from '@muster/registry';
import { ask } from './ask.ts';
import { askEvery } from './nodes.ts';
import { type Pool } from './pool.ts';
import { sql } from './sql.ts';

export interface ForgeDoor {
  readonly orgId: string;
  readonly kind: ForgeKind;
  /** What its deliveries are signed with, sealed. */
  readonly secret: Buffer;
  /** The organization's part of what opens it. */
  readonly organizationKey: Buffer;
}

interface Row {
  org_id: string;
  kind: ForgeKind;
  secret: Buffer;
  organization_key: Buffer;
}

/** Undefined where there is none, or none any more. */
export async function findForgeDoor(pool: Pool, connectionId: string): Promise<ForgeDoor | undefined> {
  const row = await askEvery(
    pool,
    async (at) => (await ask(at, sql<Row>`select * from app.find_forge_connection(${connectionId})`))[0],
    ({ org_id }) => org_id,
  );
  return (
    row && {
      orgId: row.org_id,
      kind: row.kind,
      secret: row.secret,
      organizationKey: row.organization_key,
    }
  );
}
