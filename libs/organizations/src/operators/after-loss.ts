import { queryOutsideOrg, type Pool, sql } from '@muster/driver';
import { operatorTrailStatement } from '@muster/tenancy';
import { runAsOperator } from './operate.ts';

/** An upper limit for the leases acquired during the lag of a standby. */
const skippedEpochs = 1_000;
const skippedNumbers = 1_000_000;

/**
 * Skips numbers after a failover to a standby that had missed the last transactions. Epochs of leases,
 * fencing tokens and stream positions of the lost transactions must not be assigned again. Each organization
 * has a transaction of its own. Returns the slugs of the organizations. Running it twice only skips more
 * numbers.
 */
export async function skipNumbersAfterFailover(pool: Pool): Promise<string[]> {
  const organizations = await runAsOperator(pool, (db) =>
    db.all(sql<{ id: string; slug: string }>`select o.id, o.slug from orgs o order by o.id`),
  );
  await queryOutsideOrg(pool, sql`select app.begin_epochs_beyond(${skippedEpochs})`);
  for (const { id } of organizations)
    await runAsOperator(pool, async (_db, within) => {
      const db = within(id);
      await db.all(sql`select app.go_beyond_loss(${id}::uuid, ${skippedEpochs}, ${skippedNumbers})`);
      db.deferToCommit(operatorTrailStatement('operators.afterLoss', null));
    });
  return organizations.map(({ slug }) => slug);
}
