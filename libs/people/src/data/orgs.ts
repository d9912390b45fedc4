import { type Db, type DB, type Param, type Query, query, statement } from '@muster/database';
import { notFound, type Org, type Subject, unauthorized } from '@muster/registry';
import { type Selectable } from 'kysely';

export type OrgRow = Pick<
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

/** The organization as the subject of what happened to it. */
export const aboutOrg = (org: Pick<OrgRow, 'id' | 'slug' | 'name'>): Subject => ({
  type: 'org',
  id: org.id,
  key: org.slug,
  title: org.name,
  projectId: null,
});

const lockById = statement((param: Param<{ orgId: string }>) =>
  query
    .selectFrom('orgs')
    .select([...orgColumns, 'policy', 'policy_version'])
    .where('id', '=', param('orgId'))
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate(),
);

export type LockedOrg = OrgRow & Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

/** Locks the organization; who waited until it was deleted is not let in any more. */
export async function lockOrg(db: Db, orgId: string): Promise<LockedOrg> {
  const row = await db.find(lockById({ orgId }));
  if (row === undefined) throw unauthorized();
  return row;
}

const update = statement((param: Param<OrgRow>) =>
  query
    .updateTable('orgs')
    .set({
      slug: param('slug'),
      name: param('name'),
      description: param('description'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('id', '=', param('id')),
);

/** Writes a locked organization as it is now. */
export const setOrg = (org: OrgRow): Query<unknown> => update(org);

/** Marks it as deleted; a trigger revokes its tokens with it. */
export const markOrgDeleted = (orgId: string, at: string): Query<unknown> =>
  query.updateTable('orgs').set({ deleted_at: at, updated_at: at }).where('id', '=', orgId);
