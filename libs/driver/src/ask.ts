/**
 * Runs one statement outside any organization. The statement must call a database function that restricts what is
 * returned.
 */
import { sendBurst } from './burst.ts';
import { checkOut, type Pool } from './pool.ts';
import { bind, type Query } from './sql.ts';

export async function ask<Row>(pool: Pool, source: Query<Row>): Promise<Row[]> {
  const client = await checkOut(pool);
  let broken = true;
  try {
    const [result] = await sendBurst(client, [bind(source, null)]);
    broken = false;
    return (result?.rows ?? []) as Row[];
  } finally {
    client.release(broken);
  }
}
