/**
 * Finds the organization of a forge connection. A delivery from a forge has no token that would name the
 * organization.
 */
import { queryOutsideOrg, type Pool, sql } from '@muster/driver';
import { findOnNodes } from '@muster/placement';
import { type ForgeKind } from '@muster/contract';

export interface ForgeDeliveryKeys {
  readonly orgId: string;
  readonly kind: ForgeKind;
  /** The secret that signs the connection's deliveries, encrypted. */
  readonly secret: Buffer;
  /** The organization's part of the key that decrypts the secret. */
  readonly organizationKey: Buffer;
}

/** Finds a forge connection by its id. Returns undefined if the connection never existed or was removed. */
export const findForgeDeliveryKeys = (
  pool: Pool,
  connectionId: string,
): Promise<ForgeDeliveryKeys | undefined> =>
  findOnNodes(
    pool,
    async (at) =>
      (
        await queryOutsideOrg(
          at,
          sql<ForgeDeliveryKeys>`select c.org_id as "orgId", c.kind, c.secret, c.organization_key as "organizationKey"
            from app.find_forge_connection(${connectionId}) c`,
        )
      )[0],
    ({ orgId }) => orgId,
  );
