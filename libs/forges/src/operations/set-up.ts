/** What is set for the whole installation, as handlers of connections need it. */
import { type Db } from '@muster/database';
import { type Seals } from '@muster/outbound';
import { type ForgeCredentials, type ForgeSetup } from '@muster/registry';
import {
  type ConnectionRow,
  credentialsOwner,
  getOrganizationKey,
  secretOwner,
} from '../data/connections.ts';
import { newForgeSecret } from '../rules/signatures.ts';

export interface ForgesSetUp {
  readonly seals: Seals;
  /** Where forges reach Muster, without a slash at the end. */
  readonly baseUrl: string;
}

/** Where a connection's webhook is. */
export const hookPath = (connectionId: string): string => `/hooks/forges/${connectionId}`;

export const setupOf = ({ baseUrl }: ForgesSetUp, connectionId: string, secret: string): ForgeSetup => ({
  webhookUrl: baseUrl + hookPath(connectionId),
  secret,
});

/** A new secret, to be shown once and to be stored. */
export function freshSecret(
  { seals }: ForgesSetUp,
  { id, kind }: Pick<ConnectionRow, 'id' | 'kind'>,
  organizationKey: Buffer,
): { readonly secret: string; readonly sealed: Buffer } {
  const secret = newForgeSecret(kind);
  return { secret, sealed: seals.seal(secretOwner(organizationKey, id), secret) };
}

export const sealedCredentials = (
  { seals }: ForgesSetUp,
  id: string,
  organizationKey: Buffer,
  credentials: ForgeCredentials,
): Pick<ConnectionRow, 'credentials' | 'credentials_kind' | 'app_id'> => ({
  credentials: seals.seal(credentialsOwner(organizationKey, id), JSON.stringify(credentials)),
  credentials_kind: credentials.token === undefined ? 'app' : 'token',
  app_id: credentials.appId === undefined ? null : String(credentials.appId),
});

/** It is called with nothing. */
export const noCredentials = { credentials: null, credentials_kind: null, app_id: null } as const;

/** What to enter at the forge, once more, for a call that is repeated by its Idempotency-Key. */
export async function setupAgain(db: Db, setUp: ForgesSetUp, connection: ConnectionRow): Promise<ForgeSetup> {
  const organizationKey = await getOrganizationKey(db);
  const secret = setUp.seals.open(secretOwner(organizationKey, connection.id), connection.secret);
  return setupOf(setUp, connection.id, secret ?? '');
}
