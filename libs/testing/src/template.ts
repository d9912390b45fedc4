/** The migrated database of which specs and proofs have clones of their own. */
import { migrate } from '@muster/database';
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

async function withLock(serverUrl: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    await admin.query('select pg_advisory_lock($1)', [templateLock]);
    await work(admin);
  } finally {
    await admin.end();
  }
}

/** Makes the template on a server of which the address is a superuser's, unless it is there. */
export const provideTemplate = (serverUrl: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    const exists = 'select from pg_database where datname = $1';
    if ((await admin.query(exists, [templateName])).rowCount === 1) return;
    await admin.query(`create database ${templateName}`);
    await migrate(databaseUrl(serverUrl, templateName));
  });

/** Clones it, in some 15 ms. */
export const cloneTemplate = (serverUrl: string, name: string): Promise<void> =>
  withLock(serverUrl, async (admin) => {
    await admin.query(`create database ${name} template ${templateName} strategy file_copy`);
    // The pipeline runs the loser of a deadlock again, so no caller would notice one. Nothing here looks for them: a
    // transaction that is in one comes to a timeout, and that is seen.
    await admin.query(`alter database ${name} set deadlock_timeout = '1min'`);
  });
