/** Tests that the time to purge one portion of rows does not depend on the number of due rows. */
import { expect, it } from '@jest/globals';
import { sql } from '@muster/driver';
import { acrossOrganizations } from '@muster/tenancy';
import { useWorld } from '@muster/testing';
import { findQueriesOf, purgedTables } from '../src/purge.ts';

const world = useWorld({});

it('a purge finds what is due along an index, however much that is, but in tables that stay small', async () => {
  const small = ['access_requests', 'broadcasts', 'connections', 'invitations', 'tokens'];
  const reads: Record<string, string> = {};
  for (const table of purgedTables.filter((name) => !small.includes(name)))
    for (const find of findQueriesOf(table)) {
      const plan = await acrossOrganizations(world.database.app, async (db) => {
        // Without these settings the planner would scan the small tables of a spec as a whole.
        await db.all(
          sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_sort', 'off', true)`,
        );
        return db.all(sql<{ 'QUERY PLAN': string }>`explain ${find}`);
      });
      const steps = plan.map((line) => line['QUERY PLAN']).join('\n');
      if (/Sort(?! Key)|Seq Scan/.test(steps)) reads[table] = steps;
    }
  // Runs that never end are rare, so sorting them is acceptable.
  expect(Object.keys(reads)).toEqual(['agent_runs']);
  expect(reads['agent_runs']).not.toContain('Seq Scan');
});
