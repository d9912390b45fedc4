/**
 * Runs one statement outside any organization. The statement must call a database function that restricts what is
 * returned.
 */
import { sendBurst } from './burst.ts';
import { checkOutConnection, type Pool } from './pool.ts';
import { bindStatement, type Query } from './sql.ts';

export async function queryOutsideOrg<Row>(pool: Pool, query: Query<Row>): Promise<Row[]> {
  const client = await checkOutConnection(pool);
  let broken = true;
  try {
    const [result] = await sendBurst(client, [bindStatement(query, null)]);
    broken = false;
    return (result?.rows ?? []) as Row[];
  } finally {
    client.release(broken);
  }
}
