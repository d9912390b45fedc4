/** The migrated template database, which specs and proofs clone. */
import { migrate } from '@muster/migrations';
import pg from 'pg';

const templateName = 'muster_template';

/**
 * The advisory lock of creating and cloning the template, because Postgres rejects a clone while another
 * session uses the template.
 */
const templateLockId = 4100;

/** Returns the address of a database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withConnection(url: string, work: (owner: pg.Client) => Promise<void>): Promise<void> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    await work(owner);
  } finally {
    await owner.end();
  }
}

/** The lock is released when the connection closes. */
const withLock = (serverUrl: string, work: (admin: pg.Client) => Promise<void>): Promise<void> =>
  withConnection(serverUrl, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [templateLockId]);
    await work(admin);
  });

/** Creates the template on a server unless it exists. The login in `serverUrl` must be a superuser. */
export const provideTemplate = (serverUrl: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    const exists = 'select from pg_database where datname = $1';
    if ((await admin.query(exists, [templateName])).rowCount === 1) return;
    await admin.query(`create database ${templateName}`);
    const url = databaseUrl(serverUrl, templateName);
    await migrate(url);
    await withConnection(url, assumeLargeTables);
  });

/**
 * Makes the planner assume ten thousand rows per disk page until Postgres has its own statistics. A connection
 * plans each statement only once, and in a spec the tables are almost empty at that time. Reading a whole index
 * would then look as cheap as a lookup, and each call would read the rows of all earlier calls. With this
 * assumption the plans match those of a real installation.
 */
async function assumeLargeTables(owner: pg.Client): Promise<void> {
  await owner.query(
    `select pg_restore_relation_stats('schemaname', n.nspname::text, 'relname', c.relname::text,
       'relpages', 1, 'reltuples', 10000::real)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
  );
}

/** Clones the template, in about 15 ms. */
export const cloneTemplate = (serverUrl: string, name: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    await admin.query(`create database ${name} template ${templateName} strategy file_copy`);
    // The pipeline retries the loser of a deadlock, so deadlocks would stay unnoticed. With this setting
    // Postgres does not detect them, and a deadlocked transaction reaches a visible timeout.
    await admin.query(`alter database ${name} set deadlock_timeout = '1min'`);
  });
