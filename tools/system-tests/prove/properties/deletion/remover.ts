// node remover.ts <database> <orgId> <projectId> [at once]
// Removes a project as the worker does, and prints a line after each portion. With `at once`, one statement
// removes everything.
import { createPool, sql } from '@muster/driver';
import { acrossOrganizations, removeInPortions } from '@muster/tenancy';

const [url = '', orgId, projectId, how] = process.argv.slice(2);
const pool = createPool({ url, role: 'muster_app', name: 'muster-prove-remover', max: 2 });
const say = (): void => {
  process.stdout.write('portion\n');
};

if (how === 'at once') {
  await acrossOrganizations(pool, async (db) => {
    await db.all(sql`select set_config('muster.counts', 'by hand', true)`);
    say();
    await db.all(sql`delete from projects where org_id = ${orgId} and id = ${projectId}`);
  });
} else {
  const key = { org_id: orgId, id: projectId };
  const { signal } = new AbortController();
  while (!(await removeInPortions(pool, { table: 'projects', key, signal, onPortion: say })));
}
await pool.end();
