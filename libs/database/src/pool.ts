/** Connections to Postgres, set up so that a lost one is an error of one request and never of the process. */
import pg from 'pg';

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
  readonly role?: 'muster_app' | 'muster_licenses' | null;
  /** Shows in pg_stat_activity. */
  readonly name?: string;
  /** Told of connections that broke while nobody used them. */
  readonly onIdleError?: (error: Error) => void;
}

export type Pool = pg.Pool;

/** Opens no connection yet. Timeouts are those of RELIABILITY: statement < client's own < what a caller waits. */
export function createPool(config: PoolConfig): Pool {
  const pool = new pg.Pool({
    connectionString: config.url,
    max: config.max ?? 10,
    application_name: config.name ?? 'muster',
    connectionTimeoutMillis: 1_000,
    statement_timeout: 5_000,
    query_timeout: 6_000,
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
  pool.on('connect', (client) => client.on('error', onIdleError));
  return pool;
}
