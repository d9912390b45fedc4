/** The installation's configuration of forges, for the handlers of connections. */
import { type Db } from '@muster/driver';
import { type SecretCipher } from '@muster/outbound';
import { type ForgeCredentials, type ForgeSetup } from '@muster/contract';
import { getOrganizationKey } from '@muster/tenancy';
import {
  type ConnectionRow,
  credentialsSecretOwner,
  webhookSecretOwner,
  ticketSecretOwner,
} from '../data/connections.ts';
import { newForgeSecret } from '../rules/signatures.ts';

export interface ForgesConfig {
  readonly seals: SecretCipher;
  /** The URL at which forges reach Muster, without a slash at the end. */
  readonly baseUrl: string;
}

/** Returns the path of a connection's webhook. */
export const webhookPath = (connectionId: string): string => `/hooks/forges/${connectionId}`;

/** Returns the path of the page that creates a GitHub App for the connection. */
export const appPagePath = (connectionId: string): string => `${webhookPath(connectionId)}/app`;

const ticketLifetimeMinutes = 60;

type ConnectionToSetUp = Pick<ConnectionRow, 'id' | 'kind' | 'credentials_kind'>;

export function createSetup(
  { seals, baseUrl }: ForgesConfig,
  { id, kind, credentials_kind: credentialsKind }: ConnectionToSetUp,
  organizationKey: Buffer,
  secret: string,
): ForgeSetup {
  const until = new Date(Date.now() + ticketLifetimeMinutes * 60_000).toISOString();
  const ticket = seals.encrypt(ticketSecretOwner(organizationKey, id), until).toString('base64url');
  return {
    ...{ webhookUrl: baseUrl + webhookPath(id), secret },
    manifestUrl:
      kind === 'github' && credentialsKind === null ? `${baseUrl}${appPagePath(id)}?ticket=${ticket}` : null,
  };
}

/** Creates a webhook secret. Returns it as plain text, to be shown once, and encrypted, to be stored. */
export function createSealedSecret(
  { seals }: ForgesConfig,
  { id, kind }: Pick<ConnectionRow, 'id' | 'kind'>,
  organizationKey: Buffer,
): { readonly secret: string; readonly sealedSecret: Buffer } {
  const secret = newForgeSecret(kind);
  return { secret, sealedSecret: seals.encrypt(webhookSecretOwner(organizationKey, id), secret) };
}

export const sealCredentials = (
  { seals }: Pick<ForgesConfig, 'seals'>,
  id: string,
  organizationKey: Buffer,
  credentials: ForgeCredentials,
): Pick<ConnectionRow, 'credentials' | 'credentials_kind' | 'app_id' | 'app_url'> => ({
  credentials: seals.encrypt(credentialsSecretOwner(organizationKey, id), JSON.stringify(credentials)),
  credentials_kind: credentials.token === undefined ? 'app' : 'token',
  app_id: credentials.appId === undefined ? null : String(credentials.appId),
  app_url: null,
});

/** The fields of a connection without credentials. */
export const clearedCredentials = {
  credentials: null,
  credentials_kind: null,
  app_id: null,
  app_url: null,
} as const;

/** Returns the values to enter at the forge again, for a call that is repeated with its Idempotency-Key. */
export async function recreateSetup(
  db: Db,
  config: ForgesConfig,
  connection: ConnectionRow,
): Promise<ForgeSetup> {
  const organizationKey = await getOrganizationKey(db);
  const secret = config.seals.decrypt(webhookSecretOwner(organizationKey, connection.id), connection.secret);
  return createSetup(config, connection, organizationKey, secret ?? '');
}
