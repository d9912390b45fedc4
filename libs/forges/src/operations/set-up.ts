/** The installation's configuration of forges, for the handlers of connections. */
import { type Db } from '@muster/driver';
import { type Seals } from '@muster/outbound';
import { type ForgeCredentials, type ForgeSetup } from '@muster/registry';
import { getOrganizationKey } from '@muster/tenancy';
import { type ConnectionRow, credentialsOwner, secretOwner, ticketOwner } from '../data/connections.ts';
import { newForgeSecret } from '../rules/signatures.ts';

export interface ForgesSetUp {
  readonly seals: Seals;
  /** The URL at which forges reach Muster, without a slash at the end. */
  readonly baseUrl: string;
}

/** Returns the path of a connection's webhook. */
export const hookPath = (connectionId: string): string => `/hooks/forges/${connectionId}`;

/** Returns the path of the page that creates a GitHub App for the connection. */
export const appPath = (connectionId: string): string => `${hookPath(connectionId)}/app`;

const ticketMinutes = 60;

type ToSetUp = Pick<ConnectionRow, 'id' | 'kind' | 'credentials_kind'>;

export function setupOf(
  { seals, baseUrl }: ForgesSetUp,
  { id, kind, credentials_kind: credentialsKind }: ToSetUp,
  organizationKey: Buffer,
  secret: string,
): ForgeSetup {
  const until = new Date(Date.now() + ticketMinutes * 60_000).toISOString();
  const ticket = seals.seal(ticketOwner(organizationKey, id), until).toString('base64url');
  return {
    ...{ webhookUrl: baseUrl + hookPath(id), secret },
    manifestUrl:
      kind === 'github' && credentialsKind === null ? `${baseUrl}${appPath(id)}?ticket=${ticket}` : null,
  };
}

/** Creates a webhook secret. Returns it as plain text, to be shown once, and encrypted, to be stored. */
export function freshSecret(
  { seals }: ForgesSetUp,
  { id, kind }: Pick<ConnectionRow, 'id' | 'kind'>,
  organizationKey: Buffer,
): { readonly secret: string; readonly sealed: Buffer } {
  const secret = newForgeSecret(kind);
  return { secret, sealed: seals.seal(secretOwner(organizationKey, id), secret) };
}

export const sealedCredentials = (
  { seals }: Pick<ForgesSetUp, 'seals'>,
  id: string,
  organizationKey: Buffer,
  credentials: ForgeCredentials,
): Pick<ConnectionRow, 'credentials' | 'credentials_kind' | 'app_id' | 'app_url'> => ({
  credentials: seals.seal(credentialsOwner(organizationKey, id), JSON.stringify(credentials)),
  credentials_kind: credentials.token === undefined ? 'app' : 'token',
  app_id: credentials.appId === undefined ? null : String(credentials.appId),
  app_url: null,
});

/** The fields of a connection without credentials. */
export const noCredentials = {
  credentials: null,
  credentials_kind: null,
  app_id: null,
  app_url: null,
} as const;

/** Returns the values to enter at the forge again, for a call that is repeated with its Idempotency-Key. */
export async function setupAgain(db: Db, setUp: ForgesSetUp, connection: ConnectionRow): Promise<ForgeSetup> {
  const organizationKey = await getOrganizationKey(db);
  const secret = setUp.seals.open(secretOwner(organizationKey, connection.id), connection.secret);
  return setupOf(setUp, connection, organizationKey, secret ?? '');
}
