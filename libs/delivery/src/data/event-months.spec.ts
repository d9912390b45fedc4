/** Tests the events of one execution across two months. */
import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { arrangeStories } from '../../test/stories.ts';
import { acquireStory } from '../../test/locks.ts';
import { deliveryHandlers } from '../index.ts';

const world = useWorld(deliveryHandlers);

it('events of an execution are numbered on in the next month, and read on without a gap', async () => {
  const { people } = await arrangeStories(world);
  const { orgId, chloe, dan } = people;
  const held = await acquireStory(chloe, 'WEB-1');
  const say = (n: number) => chloe.deliveryExecutions.checkpoint({ ...held, summary: `Step ${n}` });
  const monthsOf = () =>
    world.rows<{ seq: number; month: string }>(
      `select v.seq, c.relname as month from execution_events v join pg_class c on c.oid = v.tableoid
       where v.org_id = $1 order by v.seq`,
      orgId,
    );
  await say(1);
  const before = (await monthsOf()).length;
  // Moves the events so far to last month, before a partition for that month exists.
  await world.rows(`update execution_events set at = at - interval '1 month' where org_id = $1`, orgId);
  await say(2);
  await say(3);

  const rows = await monthsOf();
  expect(rows.length).toBeGreaterThan(before);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  expect(new Set(rows.map(({ month }) => month)).size).toBe(2);
  const { executionId } = held;
  const { items, lastSeq } = await dan.deliveryExecutions.eventsSince({ executionId, afterSeq: 0 });
  expect(items.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq));
  expect(lastSeq).toBe(rows.length);
});
