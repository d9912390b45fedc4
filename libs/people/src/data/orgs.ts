import { type Db, type DB, type Param, query, statement } from '@muster/database';
import { notFound, type Org } from '@muster/registry';
import { type Selectable } from 'kysely';

type OrgRow = Pick<
  Selectable<DB['orgs']>,
  'id' | 'slug' | 'name' | 'description' | 'created_at' | 'updated_at' | 'version'
>;

export const orgColumns = [
  'id',
  'slug',
  'name',
  'description',
  'created_at',
  'updated_at',
  'version',
] as const;

export const toOrg = (row: OrgRow): Org => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const orgById = statement((param: Param<{ orgId: string }>) =>
  query.selectFrom('orgs').select(orgColumns).where('id', '=', param('orgId')),
);

export async function getOrg(db: Db, orgId: string): Promise<Org> {
  const row = await db.find(orgById({ orgId }));
  if (row === undefined) throw notFound();
  return toOrg(row);
}
