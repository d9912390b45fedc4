/**
 * Storage adapters for oidc-provider. Access tokens are rows of `tokens`, a grant ends with its connection,
 * and the server's own sessions are not stored, because people have Muster's sessions.
 */
import { type Pool } from '@muster/driver';
import { inSignInTransaction, type SignInDb } from '@muster/placement';
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import {
  endConnection,
  endConnectionToken,
  findConnectionToken,
  storeConnectionToken,
  isConnectionValid,
} from './connections.ts';
import {
  consumeRecord,
  findRecord,
  findRegistration,
  storeRecord,
  type RecordRow,
  removeRecordsOfGrant,
  removeRecord,
} from './rows.ts';

/**
 * Seconds for which a used refresh token is accepted again, because the client may not have received the
 * response.
 */
const refreshTokenGraceSeconds = 60;
/** Days for which a self-registered client is kept: without a connection, and after its last connection. */
export const registrationLifetimeDays = { unused: 1, afterwards: 30 } as const;

/** Record types of the authorization server that must not be used twice. */
const singleUseModels: ReadonlySet<string> = new Set(['AuthorizationCode', 'DeviceCode']);

type RunInSignIn = <Result>(work: (db: SignInDb) => Promise<Result>) => Promise<Result>;

const doNothing = async (): Promise<undefined> => undefined;

const emptyAdapter: Adapter = {
  ...{ upsert: doNothing, find: doNothing, findByUserCode: doNothing, findByUid: doNothing },
  ...{ consume: doNothing, destroy: doNothing, revokeByGrantId: doNothing },
};

/** Returns the payload to store, without the secret that identifies it. */
const withoutSecret = ({ jti: _secret, ...payload }: AdapterPayload): AdapterPayload => payload;

const toEpochSeconds = (isoTime: string): number => Math.floor(Date.parse(isoTime) / 1_000);

/**
 * Returns the payload of a record, marked as consumed if it was used. A used refresh token is only marked
 * after the grace period, because the client may have lost the response to its first use.
 */
function toAdapterPayload(model: string, { payload, consumed_at: at }: RecordRow): AdapterPayload {
  if (at === null) return payload;
  const isInGrace =
    model === 'RefreshToken' && Date.parse(at) > Date.now() - refreshTokenGraceSeconds * 1_000;
  return isInGrace ? payload : { ...payload, consumed: toEpochSeconds(at) };
}

const createRecordAdapter = (model: string, run: RunInSignIn): Adapter => ({
  ...emptyAdapter,
  upsert: (secret, payload, expiresIn) =>
    run((db) =>
      storeRecord(db, { model, secret, payload: withoutSecret(payload), lifetimeSeconds: expiresIn ?? null }),
    ),
  find: (secret) =>
    run(async (db) => {
      const row = await findRecord(db, model, secret);
      return row && { ...toAdapterPayload(model, row), jti: secret };
    }),
  consume: (secret) =>
    run(async (db) => {
      const isFirst = await consumeRecord(db, model, secret);
      // Of two concurrent uses of a code, one is refused.
      if (!isFirst && singleUseModels.has(model)) throw new errors.InvalidGrant('it was used already');
    }),
  destroy: (secret) => run((db) => removeRecord(db, model, secret)),
  revokeByGrantId: (grantId) => run((db) => removeRecordsOfGrant(db, model, grantId)),
});

/** Stores grants. A grant has the same id as its connection and is valid as long as the connection. */
const createGrantAdapter = (run: RunInSignIn): Adapter => ({
  ...createRecordAdapter('Grant', run),
  find: (id) =>
    run(async (db) => {
      const row = (await isConnectionValid(db, id)) ? await findRecord(db, 'Grant', id) : undefined;
      return row && { ...row.payload, jti: id };
    }),
  destroy: (id) =>
    run(async (db) => {
      await endConnection(db, id);
      await removeRecord(db, 'Grant', id);
    }),
});

/** Stores self-registered clients. */
const createClientAdapter = (run: RunInSignIn): Adapter => ({
  ...createRecordAdapter('Client', run),
  upsert: (id, payload) =>
    run((db) =>
      storeRecord(db, {
        model: 'Client',
        secret: id,
        payload,
        lifetimeSeconds: registrationLifetimeDays.unused * 86_400,
      }),
    ),
  find: (id) => run(async (db) => (await findRegistration(db, id))?.payload),
});

/** Stores access tokens as rows of `tokens` that belong to their connection. */
const createAccessTokenAdapter = (run: RunInSignIn): Adapter => ({
  ...emptyAdapter,
  upsert: (secret, { grantId = '', scope = '' }, expiresIn = 0) =>
    run(async (db) => {
      const scopes = scope.split(' ');
      const isGiven = await storeConnectionToken(db, {
        connectionId: grantId,
        ...{ secret, scopes, lifetimeSeconds: expiresIn },
      });
      if (!isGiven) throw new errors.InvalidGrant('the connection is over');
    }),
  find: (secret) =>
    run(async (db) => {
      const found = await findConnectionToken(db, secret);
      if (found === undefined) return undefined;
      return {
        ...{ jti: secret, kind: 'AccessToken', format: 'opaque', exp: toEpochSeconds(found.expiresAt) },
        ...{ grantId: found.connectionId, clientId: found.clientId },
      };
    }),
  destroy: (secret) => run((db) => endConnectionToken(db, secret)),
  // The library calls this to revoke all tokens of a grant. The grant's connection ends.
  revokeByGrantId: (grantId) => run((db) => endConnection(db, grantId)),
});

/** Returns the adapter for each model. Device codes are approved through their rows (devices.ts). */
export function createAdapterFactory(pool: Pool): AdapterFactory {
  const run: RunInSignIn = (work) => inSignInTransaction(pool, work);
  const special: Readonly<Record<string, (run: RunInSignIn) => Adapter>> = {
    AccessToken: createAccessTokenAdapter,
    Client: createClientAdapter,
    Grant: createGrantAdapter,
    Session: () => emptyAdapter,
  };
  return (model) => special[model]?.(run) ?? createRecordAdapter(model, run);
}
