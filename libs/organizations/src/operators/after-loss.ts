import { ask, type Pool, sql } from '@muster/driver';
import { operatorTrail } from '@muster/tenancy';
import { operate } from './operate.ts';

/** More than anybody acquires, or writes, in what a standby can be behind. */
const skippedEpochs = 1_000;
const skippedNumbers = 1_000_000;

/**
 * After a standby took over that had not heard of the last seconds: what was numbered in them, epochs of leases, fencing tokens,
 * positions in streams, is not given out again. Answers the slugs of the organizations, each of which is a transaction. Done
 * twice it is only further on.
 */
export async function goBeyondLoss(pool: Pool): Promise<string[]> {
  const organizations = await operate(pool, (db) =>
    db.all(sql<{ id: string; slug: string }>`select o.id, o.slug from orgs o order by o.id`),
  );
  await ask(pool, sql`select app.begin_epochs_beyond(${skippedEpochs})`);
  for (const { id } of organizations)
    await operate(pool, async (_db, within) => {
      const db = within(id);
      await db.all(sql`select app.go_beyond_loss(${id}::uuid, ${skippedEpochs}, ${skippedNumbers})`);
      db.later(operatorTrail('operators.afterLoss', null));
    });
  return organizations.map(({ slug }) => slug);
}
