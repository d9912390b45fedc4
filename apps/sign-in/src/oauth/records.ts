/**
 * What the authorization server keeps, for oidc-provider. Access tokens are rows of tokens, a grant ends with its connection,
 * and of sessions it keeps none: a person's session is ours.
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

/** For so long a refresh token that was used answers again: the client may not have got the answer. */
const graceSeconds = 60;
/** A client that registered itself is kept for so long, and for so long after the last connection of its. */
export const registrationDays = { unused: 1, afterwards: 30 } as const;

/** Those whose second use is no mishap. */
const once: ReadonlySet<string> = new Set(['AuthorizationCode', 'DeviceCode']);

type Run = <Result>(work: (db: SignInDb) => Promise<Result>) => Promise<Result>;

const nothing = async (): Promise<undefined> => undefined;

const noSessions: Adapter = {
  ...{ upsert: nothing, find: nothing, findByUserCode: nothing, findByUid: nothing },
  ...{ consume: nothing, destroy: nothing, revokeByGrantId: nothing },
};

/** A payload as it is kept: without the secret by which it is found. */
const withoutSecret = ({ jti: _secret, ...payload }: AdapterPayload): AdapterPayload => payload;

const seconds = (at: string): number => Math.floor(Date.parse(at) / 1_000);

/** Reuse of a refresh token shows beyond the grace; within it the client lost an answer. */
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
      // Of two who use a code at once, one is refused.
      if (!isFirst && once.has(model)) throw new errors.InvalidGrant('it was used already');
    }),
  destroy: (secret) => run((db) => removeRecord(db, model, secret)),
  revokeByGrantId: (grantId) => run((db) => removeOfGrant(db, model, grantId)),
});

/** A grant holds as long as its connection does, whose id is its own. */
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

/** Clients that registered themselves. */
const clients = (run: Run): Adapter => ({
  ...records('Client', run),
  upsert: (id, payload) =>
    run((db) =>
      keepRecord(db, { model: 'Client', secret: id, payload, seconds: registrationDays.unused * 86_400 }),
    ),
  find: (id) => run(async (db) => (await findRegistration(db, id))?.payload),
});

/** Access tokens, in our own shape: each is a row of tokens, under its connection. */
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
  // What ends a grant's tokens ends the grant.
  revokeByGrantId: (grantId) => run((db) => endConnection(db, grantId)),
});

/** Where oidc-provider keeps what. Codes of devices are approved by their rows (devices.ts). */
export function createRecords(pool: Pool): AdapterFactory {
  const run: Run = (work) => inSignIn(pool, work);
  const special: Readonly<Record<string, (run: Run) => Adapter>> = {
    ...{ AccessToken: accessTokens, Client: clients, Grant: grants, Session: () => noSessions },
  };
  return (model) => special[model]?.(run) ?? records(model, run);
}
