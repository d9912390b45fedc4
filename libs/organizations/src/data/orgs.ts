import { type Db, type DB, organization, type Query, sql } from '@muster/database';
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

export async function getOrg(db: Db): Promise<Org> {
  const row = await db.find(
    sql<OrgRow>`select ${sql.columns(orgColumns)} from orgs where id = ${organization}`,
  );
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

export type LockedOrg = OrgRow & Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

/** Locks the organization; who waited until it was deleted is not let in any more. */
export async function lockOrg(db: Db): Promise<LockedOrg> {
  const row = await db.find(
    sql<LockedOrg>`select ${sql.columns(orgColumns)}, policy, policy_version from orgs where id = ${organization} and deleted_at is null for no key update`,
  );
  if (row === undefined) throw unauthorized();
  return row;
}

/** Writes a locked organization as it is now. */
export const setOrg = (org: OrgRow): Query<unknown> =>
  sql`${sql.update('orgs', changing, org)} where id = ${organization}`;

const changing = ['slug', 'name', 'description', 'updated_at', 'version'] as const;

/** Marks it as deleted; a trigger revokes its tokens with it. */
export const markOrgDeleted = (at: string): Query<unknown> =>
  sql`update orgs set deleted_at = ${at}, updated_at = ${at} where id = ${organization}`;
