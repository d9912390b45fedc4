import { type Db, type DB, currentOrgId, type Query, defineRecord, type RowOf, sql } from '@muster/driver';
import { type Org, type Subject, subjectOf, unauthorized } from '@muster/contract';
import { type Selectable } from 'kysely';

export const orgs = defineRecord('orgs', 'o', {
  slug: { set: true },
  name: { set: true },
  description: { set: true, emptyValue: '' },
});
export type OrgRow = RowOf<typeof orgs>;
export const toOrg: (row: OrgRow) => Org = orgs.shown;

export async function getOrg(db: Db): Promise<Org> {
  return toOrg(await db.get(sql<OrgRow>`select ${orgs.list} from orgs o where o.id = ${currentOrgId}`));
}

/** Returns the subject of an event about the organization. */
export const toOrgEventSubject = (org: Pick<OrgRow, 'id' | 'slug' | 'name'>): Subject =>
  subjectOf('org', org, org.name, org.slug);

export type LockedOrg = OrgRow & Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

/** Locks the organization. Throws 401 if it was deleted while this call waited for the lock. */
export async function lockOrg(db: Db): Promise<LockedOrg> {
  const row = await db.find(
    sql<LockedOrg>`select ${orgs.list}, o.policy, o.policy_version from orgs o where o.id = ${currentOrgId} and o.deleted_at is null for no key update`,
  );
  if (row === undefined) throw unauthorized();
  return row;
}

/** Writes the current values of a locked organization. */
export const updateOrg = (org: OrgRow): Query<unknown> =>
  sql`${sql.update('orgs', changeableOrgColumns, org)} where id = ${currentOrgId}`;

const changeableOrgColumns = ['slug', 'name', 'description', 'updated_at', 'version'] as const;

/** Marks the organization as deleted. A trigger revokes its tokens. */
export const markOrgDeleted = (deletedAt: string): Query<unknown> =>
  sql`update orgs set deleted_at = ${deletedAt}, updated_at = ${deletedAt} where id = ${currentOrgId}`;
