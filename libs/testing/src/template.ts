/** The migrated database of which specs and proofs have clones of their own. */
import { migrate } from '@muster/migrations';
import pg from 'pg';

const templateName = 'muster_template';

/** Held by those who make the template, and by those who clone it: two clones at once would each find it in use. */
const templateLock = 4100;

/** The same server's database of that name. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function connected(url: string, work: (owner: pg.Client) => Promise<void>): Promise<void> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    await work(owner);
  } finally {
    await owner.end();
  }
}

/** The lock ends with the connection. */
const withLock = (serverUrl: string, work: (admin: pg.Client) => Promise<void>): Promise<void> =>
  connected(serverUrl, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [templateLock]);
    await work(admin);
  });

/** Makes the template on a server of which the address is a superuser's, unless it is there. */
export const provideTemplate = (serverUrl: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    const exists = 'select from pg_database where datname = $1';
    if ((await admin.query(exists, [templateName])).rowCount === 1) return;
    await admin.query(`create database ${templateName}`);
    const url = databaseUrl(serverUrl, templateName);
    await migrate(url);
    await connected(url, supposeLargeTables);
  });

/**
 * A statement is planned once for each connection, in a spec while the tables are all but empty: then to read all of an
 * index looks as good as to look one row up, and each call reads what the calls before it left. So Postgres is told of
 * ten thousand rows a page, until it counts them itself, and plans as it does for an installation at work.
 */
async function supposeLargeTables(owner: pg.Client): Promise<void> {
  await owner.query(
    `select pg_restore_relation_stats('schemaname', n.nspname::text, 'relname', c.relname::text,
       'relpages', 1, 'reltuples', 10000::real)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
  );
}

/** Clones it, in some 15 ms. */
export const cloneTemplate = (serverUrl: string, name: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    await admin.query(`create database ${name} template ${templateName} strategy file_copy`);
    // The pipeline runs the loser of a deadlock again, so no caller would notice one. Nothing here looks for them: a
    // transaction that is in one comes to a timeout, and that is seen.
    await admin.query(`alter database ${name} set deadlock_timeout = '1min'`);
  });
