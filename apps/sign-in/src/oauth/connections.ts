/**
 * Connections and their tokens. This service uses SQL functions, because it may not read rows of an
 * organization.
 */
import { type Db, newId, sql } from '@muster/driver';
import { type CreationRequestFacts } from '@muster/organizations';
import { type SignInDb } from '@muster/placement';
import { type GrantableScope, isUuid } from '@muster/contract';
import { hashToken, tokenPrefixOf } from '@muster/runtime';

/** Lifetime of a connection's access token in seconds. */
export const accessTokenSeconds = 3_600;

export interface NewConnection {
  readonly id: string;
  readonly accountId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly client: { readonly id: string; readonly name: string; readonly host: string | null };
  readonly resource: string;
  readonly scopes: readonly GrantableScope[];
  /** The projects of the connection; null for every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  readonly days: number;
}

/**
 * The reason for a refusal: no member, not their agent, insufficient role, invisible project, or too many
 * connections.
 */
export type ConnectionRefusal = 'member' | 'agent' | 'role' | 'projects' | 'limit';

/**
 * Creates a connection and its audit entry. Returns the reason for a refusal, or null on success. It must be
 * the last call of its transaction.
 */
export async function openConnection(
  db: SignInDb,
  connection: NewConnection,
  request: CreationRequestFacts,
): Promise<ConnectionRefusal | null> {
  return db.at(connection.orgId, (there) => insertConnection(there, connection, request));
}

async function insertConnection(
  db: Db,
  connection: NewConnection,
  request: CreationRequestFacts,
): Promise<ConnectionRefusal | null> {
  const { client } = connection;
  const { outcome } = await db.one(
    sql<{
      outcome: ConnectionRefusal | null;
    }>`select app.open_connection(${connection.accountId}::uuid, ${connection.orgId}::uuid, ${connection.id}::uuid, ${connection.agentId}::uuid, ${client.id},
         ${client.name}, ${client.host}, ${connection.resource}, ${connection.scopes}::text[], ${connection.projectIds}::uuid[], ${connection.days}) as outcome`,
  );
  if (outcome === null)
    await db.all(
      sql`select app.note_connection(${connection.id}::uuid, ${newId()}::uuid, ${JSON.stringify(request)}::jsonb)`,
    );
  return outcome;
}

/**
 * Runs `work` on the database server of the organization to which the connection or token belongs. If no
 * organization is found, runs `work` on the primary server, where it finds nothing.
 */
async function onOrganizationServer<Result>(
  db: SignInDb,
  reference: Parameters<SignInDb['organizationOf']>[0],
  work: (there: Db) => Promise<Result>,
): Promise<Result> {
  if (!db.hasNodes) return work(db);
  const orgId = await db.organizationOf(reference);
  return orgId === undefined ? work(db) : db.at(orgId, work);
}

/** Returns true if the connection is still valid. */
export async function isConnectionValid(db: SignInDb, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { isAlive } = await onOrganizationServer(db, { connection: id }, (there) =>
    there.one(sql<{ isAlive: boolean | null }>`select app.is_connected(${id}::uuid) as "isAlive"`),
  );
  return isAlive === true;
}

export async function endConnection(db: SignInDb, id: string): Promise<void> {
  if (!isUuid(id)) return;
  await onOrganizationServer(db, { connection: id }, (there) =>
    there.all(sql`select app.end_connection(${id}::uuid)`),
  );
}

export interface NewConnectionToken {
  readonly connectionId: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  readonly lifetimeSeconds: number;
}

/** Stores an access token. Returns false if the connection has ended or does not cover the scopes. */
export async function storeConnectionToken(
  db: SignInDb,
  { connectionId, secret, scopes, lifetimeSeconds }: NewConnectionToken,
): Promise<boolean> {
  const { expiresAt } = await onOrganizationServer(db, { connection: connectionId }, (there) =>
    there.one(
      sql<{
        expiresAt: string | null;
      }>`select app.give_connection_token(${connectionId}::uuid, ${newId()}::uuid, ${hashToken(secret)}, ${tokenPrefixOf(secret)},
         ${secret.slice(-4)}, ${scopes}::text[], ${lifetimeSeconds}) as "expiresAt"`,
    ),
  );
  return expiresAt !== null;
}

export interface ConnectionToken {
  readonly connectionId: string;
  readonly clientId: string;
  readonly expiresAt: string;
}

export const findConnectionToken = (db: SignInDb, secret: string): Promise<ConnectionToken | undefined> =>
  onOrganizationServer(db, { tokenHash: hashToken(secret) }, (there) =>
    there.find(
      sql<ConnectionToken>`select t.connection_id as "connectionId", t.client_id as "clientId", t.expires_at as "expiresAt"
       from app.find_connection_token(${hashToken(secret)}) t`,
    ),
  );

export async function endConnectionToken(db: SignInDb, secret: string): Promise<void> {
  await onOrganizationServer(db, { tokenHash: hashToken(secret) }, (there) =>
    there.all(sql`select app.end_connection_token(${hashToken(secret)})`),
  );
}
