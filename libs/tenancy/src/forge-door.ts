/** Of which organization a connection to a forge is, for a delivery, which has no token. */
import { ask, type Pool, sql } from '@muster/driver';
import { findOnNodes } from '@muster/placement';
import { type ForgeKind } from '@muster/registry';

export interface ForgeDoor {
  readonly orgId: string;
  readonly kind: ForgeKind;
  /** What its deliveries are signed with, sealed. */
  readonly secret: Buffer;
  /** The organization's part of what opens it. */
  readonly organizationKey: Buffer;
}

/** Undefined where there is none, or none any more. */
export const findForgeDoor = (pool: Pool, connectionId: string): Promise<ForgeDoor | undefined> =>
  findOnNodes(
    pool,
    async (at) =>
      (
        await ask(
          at,
          sql<ForgeDoor>`select c.org_id as "orgId", c.kind, c.secret, c.organization_key as "organizationKey"
            from app.find_forge_connection(${connectionId}) c`,
        )
      )[0],
    ({ orgId }) => orgId,
  );
