/** Connections, and their tokens, by the functions of the door: this service reads no row of an organization. */
import { type Db, newId, sql } from '@muster/driver';
import { type BeginningFacts } from '@muster/organizations';
import { type SignInDb } from '@muster/placement';
import { type GivenScope, isUuid } from '@muster/registry';
import { hashToken, tokenPrefixOf } from '@muster/runtime';

/** How long a token of a connection is good. */
export const tokenSeconds = 3_600;

export interface NewConnection {
  readonly id: string;
  readonly accountId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly client: { readonly id: string; readonly name: string; readonly host: string | null };
  readonly resource: string;
  readonly scopes: readonly GivenScope[];
  /** Null: every project that the member may see. */
  readonly projectIds: readonly string[] | null;
  readonly days: number;
}

/** Why there is no connection: no member, no agent of theirs, a role too low, a project unseen, too many. */
export type Unconnected = 'member' | 'agent' | 'role' | 'projects' | 'limit';

/** Null where it is made, which the audit of its organization says from then on. The last of its transaction. */
export async function openConnection(
  db: SignInDb,
  made: NewConnection,
  request: BeginningFacts,
): Promise<Unconnected | null> {
  return db.at(made.orgId, (there) => openThere(there, made, request));
}

async function openThere(db: Db, made: NewConnection, request: BeginningFacts): Promise<Unconnected | null> {
  const { client } = made;
  const { outcome } = await db.one(
    sql<{
      outcome: Unconnected | null;
    }>`select app.open_connection(${made.accountId}::uuid, ${made.orgId}::uuid, ${made.id}::uuid, ${made.agentId}::uuid, ${client.id},
         ${client.name}, ${client.host}, ${made.resource}, ${made.scopes}::text[], ${made.projectIds}::uuid[], ${made.days}) as outcome`,
  );
  if (outcome === null)
    await db.all(
      sql`select app.note_connection(${made.id}::uuid, ${newId()}::uuid, ${JSON.stringify(request)}::jsonb)`,
    );
  return outcome;
}

/** Where the organization is that has it; here where there is none, which answers so. */
async function atItsOrganization<Result>(
  db: SignInDb,
  named: Parameters<SignInDb['organizationOf']>[0],
  work: (there: Db) => Promise<Result>,
): Promise<Result> {
  if (!db.hasNodes) return work(db);
  const orgId = await db.organizationOf(named);
  return orgId === undefined ? work(db) : db.at(orgId, work);
}

/** Whether it still lets its client in. */
export async function isConnected(db: SignInDb, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { isAlive } = await atItsOrganization(db, { connection: id }, (there) =>
    there.one(sql<{ isAlive: boolean | null }>`select app.is_connected(${id}::uuid) as "isAlive"`),
  );
  return isAlive === true;
}

export async function endConnection(db: SignInDb, id: string): Promise<void> {
  if (!isUuid(id)) return;
  await atItsOrganization(db, { connection: id }, (there) =>
    there.all(sql`select app.end_connection(${id}::uuid)`),
  );
}

export interface NewConnectionToken {
  readonly connectionId: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  readonly seconds: number;
}

/** False where the connection is over, or does not go so far. */
export async function giveConnectionToken(
  db: SignInDb,
  { connectionId, secret, scopes, seconds }: NewConnectionToken,
): Promise<boolean> {
  const { expiresAt } = await atItsOrganization(db, { connection: connectionId }, (there) =>
    there.one(
      sql<{
        expiresAt: string | null;
      }>`select app.give_connection_token(${connectionId}::uuid, ${newId()}::uuid, ${hashToken(secret)}, ${tokenPrefixOf(secret)},
         ${secret.slice(-4)}, ${scopes}::text[], ${seconds}) as "expiresAt"`,
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
  atItsOrganization(db, { tokenHash: hashToken(secret) }, (there) =>
    there.find(
      sql<ConnectionToken>`select t.connection_id as "connectionId", t.client_id as "clientId", t.expires_at as "expiresAt"
       from app.find_connection_token(${hashToken(secret)}) t`,
    ),
  );

export async function endConnectionToken(db: SignInDb, secret: string): Promise<void> {
  await atItsOrganization(db, { tokenHash: hashToken(secret) }, (there) =>
    there.all(sql`select app.end_connection_token(${hashToken(secret)})`),
  );
}
