/** Creates pools of Postgres connections. A lost connection fails one request and never the process. */
import pg from 'pg';
import { Client, type ReadTimeout } from './client.ts';

/**
 * Converts `2026-11-21 09:30:00.1+00` into `2026-11-21T09:30:00.100Z`. Sessions use UTC, and columns have milliseconds.
 */
export function timestampToIso(text: string): string {
  const fraction = text.length > 22 ? text.slice(20, -3) : '';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
}

const { types } = pg;
types.setTypeParser(types.builtins.TIMESTAMPTZ, timestampToIso);
types.setTypeParser(types.builtins.DATE, (text) => text);
// Counters and sequence numbers stay far below 2^53, so a JavaScript number is exact.
types.setTypeParser(types.builtins.INT8, Number);

export interface PoolConfig {
  readonly url: string;
  /** The most connections; 10 by default. */
  readonly max?: number;
  /** The database role of the service. With null the session keeps the login role, for operators and migrations. */
  readonly role?: 'muster_app' | 'muster_licenses' | 'muster_license_operators' | 'muster_sign_in' | null;
  /** The application name in pg_stat_activity. */
  readonly name?: string;
  /** Receives the errors of connections that broke while idle. */
  readonly onIdleError?: (error: Error) => void;
  /** The time limit for a connection; 1 s by default, because a caller waits. Operator commands may wait longer. */
  readonly connectTimeoutMillis?: number;
  /** The time limit for a statement; 5 s by default. */
  readonly queryTimeoutMillis?: number;
}

export type Pool = pg.Pool;

/** The error when no connection to Postgres could be made. */
export class DatabaseAway extends Error {
  constructor(cause: unknown) {
    super('no connection to Postgres', { cause });
    this.name = 'DatabaseAway';
  }
}

/** The error when Postgres is reachable, but all of its connections or all of the pool's are in use. */
export class DatabaseBusy extends Error {
  constructor(cause: unknown) {
    super('no connection to Postgres was free', { cause });
    this.name = 'DatabaseBusy';
  }
}

/** The open connections of each pool. */
const connectionsByPool = new WeakMap<Pool, Set<pg.PoolClient>>();

/** pg's messages when the wait for a free or a new connection times out. */
const connectTimeoutMessages =
  /^timeout exceeded when trying to connect$|^Connection terminated due to connection timeout$/;
const tooManyConnectionsSqlState = '53300';

/**
 * Classifies why there is no connection. "Too many connections" counts as busy. A timeout counts as busy if the pool
 * has open connections, and otherwise as away.
 */
export function classifyConnectionError(pool: Pool, error: unknown): DatabaseAway | DatabaseBusy {
  if (!(error instanceof Error)) return new DatabaseAway(error);
  const isFull = 'code' in error && error.code === tooManyConnectionsSqlState;
  const isLate = connectTimeoutMessages.test(error.message) && (connectionsByPool.get(pool)?.size ?? 0) > 0;
  return isFull || isLate ? new DatabaseBusy(error) : new DatabaseAway(error);
}

/** Checks a connection out of the pool. Throws DatabaseAway or DatabaseBusy. */
export async function checkOutConnection(pool: Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw classifyConnectionError(pool, error);
  }
}

/** The connection timeout of commands and of one-time work at startup. */
export const cliConnectTimeoutMillis = 5_000;

/** Creates a pool without opening a connection. Timeouts nest: statement < client's read timeout < the caller's wait. */
export function createPool(config: PoolConfig): Pool {
  const answerWithinMillis = config.queryTimeoutMillis ?? 5_000;
  const readTimeout: ReadTimeout = { readTimeoutMillis: answerWithinMillis * 1.2 };
  const pool = new pg.Pool({
    ...readTimeout,
    Client: Client as unknown as new () => pg.ClientBase,
    connectionString: config.url,
    max: config.max ?? 10,
    application_name: config.name ?? 'muster',
    connectionTimeoutMillis: config.connectTimeoutMillis ?? 1_000,
    statement_timeout: answerWithinMillis,
    lock_timeout: 2_000,
    idle_in_transaction_session_timeout: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    options: [
      '-c TimeZone=UTC -c plan_cache_mode=force_generic_plan',
      // Postgres keeps a generic plan. If it makes the plan while a table is empty, a sequential scan looks
      // cheapest, so such scans are turned off.
      ...(config.role ? [`-c role=${config.role} -c enable_seqscan=off`] : []),
    ].join(' '),
  });
  const onIdleError = config.onIdleError ?? (() => undefined);
  pool.on('error', onIdleError);
  // A checked-out client that loses its socket emits 'error'. Without a listener the process would exit.
  const made = new Set<pg.PoolClient>();
  connectionsByPool.set(pool, made);
  pool.on('connect', (client) => {
    // guard: broken connections are heard
    client.on('error', onIdleError);
    made.add(client);
    client.once('end', () => made.delete(client));
  });
  return pool;
}
