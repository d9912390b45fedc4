import { expect, it } from '@jest/globals';
import { type Db, sql } from '@muster/driver';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { useWorld } from '@muster/testing';
import { arrangeStories } from '../../test/stories.ts';
import { deliveryHandlers } from '../index.ts';
import { listUndeliveredEvents } from './signals.ts';

const world = useWorld(deliveryHandlers);

/** Counts the stream's rows that this transaction has read so far. */
const countRowsRead = async (db: Db): Promise<number> => {
  const { read } = await db.one(
    sql<{ read: number }>`select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
       from pg_stat_xact_user_tables where schemaname = 'months' and relname like 'execution_events%'`,
  );
  return read;
};

it('signals cost what is new, however much a holder was told before', async () => {
  const { people } = await arrangeStories(world);
  const { orgId } = people;
  const { execution, leaseToken } = await people.chloe.deliveryExecutions.acquire({
    targetType: 'story',
    targetId: 'WEB-1',
  });
  const told = 2_000;
  await world.rows(
    `insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
     select $1, $2, seq, 'story_changed', '{}', '{}', now() from generate_series(10, $3::int) seq`,
    orgId,
    execution.id,
    told + 1,
  );
  await world.rows(
    'update executions set last_event_seq = $3 + 1, told_seq = $3 where org_id = $1 and id = $2',
    orgId,
    execution.id,
    told,
  );

  await inOrganizationAsSystem(world.database.app, orgId, async (db) => {
    const before = await countRowsRead(db);
    const row = { id: execution.id, told_seq: told, last_event_seq: told + 1 };
    expect(await listUndeliveredEvents(db, row)).toMatchObject([{ kind: 'story_changed', seq: told + 1 }]);
    expect((await countRowsRead(db)) - before).toBe(1);
  });
  const { signals } = await people.chloe.deliveryExecutions.renew({
    executionId: execution.id,
    leaseToken,
  });
  expect(signals.map(({ seq }) => seq)).toEqual([told + 1]);
});
