/**
 * Storage adapters for oidc-provider. Access tokens are rows of `tokens`, a grant ends with its connection,
 * and the server's own sessions are not stored, because people have Muster's sessions.
 */
import { type Pool } from '@muster/driver';
import { inSignIn, type SignInDb } from '@muster/placement';
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import {
  endConnection,
  endConnectionToken,
  findConnectionToken,
  giveConnectionToken,
  isConnected,
} from './connections.ts';
import {
  consumeRecord,
  findRecord,
  findRegistration,
  keepRecord,
  type RecordRow,
  removeOfGrant,
  removeRecord,
} from './rows.ts';

/**
 * Seconds for which a used refresh token is accepted again, because the client may not have received the
 * response.
 */
const graceSeconds = 60;
/** Days for which a self-registered client is kept: without a connection, and after its last connection. */
export const registrationDays = { unused: 1, afterwards: 30 } as const;

/** Record types of the authorization server that must not be used twice. */
const once: ReadonlySet<string> = new Set(['AuthorizationCode', 'DeviceCode']);

type Run = <Result>(work: (db: SignInDb) => Promise<Result>) => Promise<Result>;

const nothing = async (): Promise<undefined> => undefined;

const noSessions: Adapter = {
  ...{ upsert: nothing, find: nothing, findByUserCode: nothing, findByUid: nothing },
  ...{ consume: nothing, destroy: nothing, revokeByGrantId: nothing },
};

/** Returns the payload to store, without the secret that identifies it. */
const withoutSecret = ({ jti: _secret, ...payload }: AdapterPayload): AdapterPayload => payload;

const seconds = (at: string): number => Math.floor(Date.parse(at) / 1_000);

/**
 * Returns the payload of a record, marked as consumed if it was used. A used refresh token is only marked
 * after the grace period, because the client may have lost the response to its first use.
 */
function seen(model: string, { payload, consumed_at: at }: RecordRow): AdapterPayload {
  if (at === null) return payload;
  const isInGrace = model === 'RefreshToken' && Date.parse(at) > Date.now() - graceSeconds * 1_000;
  return isInGrace ? payload : { ...payload, consumed: seconds(at) };
}

const records = (model: string, run: Run): Adapter => ({
  ...noSessions,
  upsert: (secret, payload, expiresIn) =>
    run((db) =>
      keepRecord(db, { model, secret, payload: withoutSecret(payload), seconds: expiresIn ?? null }),
    ),
  find: (secret) =>
    run(async (db) => {
      const row = await findRecord(db, model, secret);
      return row && { ...seen(model, row), jti: secret };
    }),
  consume: (secret) =>
    run(async (db) => {
      const isFirst = await consumeRecord(db, model, secret);
      // Of two concurrent uses of a code, one is refused.
      if (!isFirst && once.has(model)) throw new errors.InvalidGrant('it was used already');
    }),
  destroy: (secret) => run((db) => removeRecord(db, model, secret)),
  revokeByGrantId: (grantId) => run((db) => removeOfGrant(db, model, grantId)),
});

/** Stores grants. A grant has the same id as its connection and is valid as long as the connection. */
const grants = (run: Run): Adapter => ({
  ...records('Grant', run),
  find: (id) =>
    run(async (db) => {
      const row = (await isConnected(db, id)) ? await findRecord(db, 'Grant', id) : undefined;
      return row && { ...row.payload, jti: id };
    }),
  destroy: (id) =>
    run(async (db) => {
      await endConnection(db, id);
      await removeRecord(db, 'Grant', id);
    }),
});

/** Stores self-registered clients. */
const clients = (run: Run): Adapter => ({
  ...records('Client', run),
  upsert: (id, payload) =>
    run((db) =>
      keepRecord(db, { model: 'Client', secret: id, payload, seconds: registrationDays.unused * 86_400 }),
    ),
  find: (id) => run(async (db) => (await findRegistration(db, id))?.payload),
});

/** Stores access tokens as rows of `tokens` that belong to their connection. */
const accessTokens = (run: Run): Adapter => ({
  ...noSessions,
  upsert: (secret, { grantId = '', scope = '' }, expiresIn = 0) =>
    run(async (db) => {
      const scopes = scope.split(' ');
      const isGiven = await giveConnectionToken(db, {
        connectionId: grantId,
        ...{ secret, scopes, seconds: expiresIn },
      });
      if (!isGiven) throw new errors.InvalidGrant('the connection is over');
    }),
  find: (secret) =>
    run(async (db) => {
      const found = await findConnectionToken(db, secret);
      if (found === undefined) return undefined;
      return {
        ...{ jti: secret, kind: 'AccessToken', format: 'opaque', exp: seconds(found.expiresAt) },
        ...{ grantId: found.connectionId, clientId: found.clientId },
      };
    }),
  destroy: (secret) => run((db) => endConnectionToken(db, secret)),
  // The library calls this to revoke all tokens of a grant. The grant's connection ends.
  revokeByGrantId: (grantId) => run((db) => endConnection(db, grantId)),
});

/** Returns the adapter for each model. Device codes are approved through their rows (devices.ts). */
export function createRecords(pool: Pool): AdapterFactory {
  const run: Run = (work) => inSignIn(pool, work);
  const special: Readonly<Record<string, (run: Run) => Adapter>> = {
    ...{ AccessToken: accessTokens, Client: clients, Grant: grants, Session: () => noSessions },
  };
  return (model) => special[model]?.(run) ?? records(model, run);
}
