/** Connections to Postgres, set up so that a lost one is an error of one request and never of the process. */
import pg from 'pg';
import { Client, type ReadTimeout } from './client.ts';

/** `2026-11-21 09:30:00.1+00` → `2026-11-21T09:30:00.100Z`; connections speak UTC, and columns hold milliseconds. */
export function toIso(text: string): string {
  const fraction = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

const { types } = pg;
types.setTypeParser(types.builtins.TIMESTAMPTZ, toIso);
types.setTypeParser(types.builtins.DATE, (text) => text);
// Counters and sequence numbers: far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);

export interface PoolConfig {
  readonly url: string;
  /** Connections at most; 10 unless said. */
  readonly max?: number;
  /** The role to work as, that of the service; null keeps the login's own, for operators and migrations. */
  readonly role?: 'muster_app' | 'muster_licenses' | 'muster_license_operators' | 'muster_sign_in' | null;
  /** Shows in pg_stat_activity. */
  readonly name?: string;
  /** Told of connections that broke while they were idle. */
  readonly onIdleError?: (error: Error) => void;
  /** How long a new connection may take. A caller of a service waits for it; an operator's command has more time. */
  readonly connectWithinMillis?: number;
  /** How long a statement may take; 5 s unless said. */
  readonly answerWithinMillis?: number;
}

export type Pool = pg.Pool;

/** No connection to be had. */
export class DatabaseAway extends Error {
  constructor(cause: unknown) {
    super('no connection to Postgres', { cause });
    this.name = 'DatabaseAway';
  }
}

/** Postgres is there, and all its connections, or all of ours, are taken. */
export class DatabaseBusy extends Error {
  constructor(cause: unknown) {
    super('no connection to Postgres was free', { cause });
    this.name = 'DatabaseBusy';
  }
}

/** The connections of each pool that were made and are not lost. */
const connected = new WeakMap<Pool, Set<pg.PoolClient>>();

/** What pg says of who waited too long, for a connection of others or for a new one. */
const waitedTooLong =
  /^timeout exceeded when trying to connect$|^Connection terminated due to connection timeout$/;
const tooManyConnections = '53300';

/** Why there is no connection. Who waited for one in vain while others had theirs came at a busy time, no more. */
export function connectionFault(pool: Pool, error: unknown): DatabaseAway | DatabaseBusy {
  if (!(error instanceof Error)) return new DatabaseAway(error);
  const isFull = 'code' in error && error.code === tooManyConnections;
  const isLate = waitedTooLong.test(error.message) && (connected.get(pool)?.size ?? 0) > 0;
  return isFull || isLate ? new DatabaseBusy(error) : new DatabaseAway(error);
}

/** A connection of the pool; throws DatabaseAway or DatabaseBusy. */
export async function checkOut(pool: Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw connectionFault(pool, error);
  }
}

/** Of commands, and of what is done once at a start. */
export const commandConnectMillis = 5_000;

/** Opens no connection yet. Timeouts are those of RELIABILITY: statement < client's own < what a caller waits. */
export function createPool(config: PoolConfig): Pool {
  const answerWithinMillis = config.answerWithinMillis ?? 5_000;
  const readTimeout: ReadTimeout = { readTimeoutMillis: answerWithinMillis * 1.2 };
  const pool = new pg.Pool({
    ...readTimeout,
    Client: Client as unknown as new () => pg.ClientBase,
    connectionString: config.url,
    max: config.max ?? 10,
    application_name: config.name ?? 'muster',
    connectionTimeoutMillis: config.connectWithinMillis ?? 1_000,
    statement_timeout: answerWithinMillis,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    options: [
      '-c TimeZone=UTC -c plan_cache_mode=force_generic_plan',
      // A plan stays as it was made, perhaps while a table was empty: then a scan of all of it looks cheapest.
      ...(config.role ? [`-c role=${config.role} -c enable_seqscan=off`] : []),
    ].join(' '),
  });
  const onIdleError = config.onIdleError ?? (() => undefined);
  pool.on('error', onIdleError);
  // A checked-out client that loses its socket emits too, and without a listener that would end the process.
  const made = new Set<pg.PoolClient>();
  connected.set(pool, made);
  pool.on('connect', (client) => {
    // guard: broken connections are heard
    client.on('error', onIdleError);
    made.add(client);
    client.once('end', () => made.delete(client));
  });
  return pool;
}
