import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { type BenchOrg, description, titleOf } from './data.ts';

/**
 * Fills `still`, the organization's project without writes. Afterwards there are `total` stories and `total`
 * related records of each kind.
 */
export async function fillUp(url: string, { orgId, still, actor }: BenchOrg, total: number): Promise<void> {
  const values: Readonly<Record<string, string>> = {
    org_id: `${pg.escapeLiteral(orgId)}::uuid`,
    project_id: `${pg.escapeLiteral(still.projectId)}::uuid`,
    member_id: `${pg.escapeLiteral(actor.memberId)}::uuid`,
    ...{ total: String(total), title: pg.escapeLiteral(titleOf(1)) },
    description: pg.escapeLiteral(description('board')),
  };
  const text = await readFile(path.join(import.meta.dirname, 'growth-fill.sql'), 'utf8');
  // A pool of `createPool` has timeouts for ordinary calls. These statements take longer, so a plain client
  // runs them.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text.replaceAll(/(?<!:):([a-z_]+)/g, (whole, name: string) => values[name] ?? whole));
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
