/** Tests the cost of lease renewals, the most frequent of all writes. */
import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { deliveryHandlers } from '../index.ts';
import { arrangeStories } from '../../test/stories.ts';

const world = useWorld(deliveryHandlers);

/** Lists the columns in a table's indexes, including their conditions. */
const indexedColumns = async (table: string): Promise<string[]> => {
  const rows = await world.rows<{ name: string }>(
    `select distinct a.attname as name
     from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and (a.attnum = any (i.indkey) or exists (
       select from pg_depend d
       where d.objid = i.indexrelid and d.refobjid = i.indrelid and d.refobjsubid = a.attnum))
     where i.indrelid = $1::regclass`,
    table,
  );
  return rows.map(({ name }) => name);
};

it('a renewal changes no column that an index has: its new row needs an entry in none', async () => {
  const { people } = await arrangeStories(world);
  const { orgId, chloe } = people;
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: 'WEB-1' },
  });
  const lease = async (): Promise<Record<string, unknown>> => {
    const [row] = await world.rows<{ row: Record<string, unknown> }>(
      `select to_jsonb(l) as row from leases l where org_id = $1 and state = 'held'`,
      orgId,
    );
    return row?.row ?? {};
  };
  const before = await lease();
  await chloe.deliveryExecutions.renew({ executionId: execution.id, leaseToken, ttlSeconds: 1_800 });
  const after = await lease();
  const changed = Object.keys(after).filter((column) => after[column] !== before[column]);
  expect(changed).toContain('expires_at');
  const indexed = await indexedColumns('leases');
  expect(indexed).toEqual(expect.arrayContaining(['org_id', 'due_at', 'expiry_noted', 'state']));
  expect(changed.filter((column) => indexed.includes(column))).toEqual([]);
});
