import { type Db, type DB, organization, type Query, record, type RowOf, sql } from '@muster/driver';
import { type Org, type Subject, subjectOf, unauthorized } from '@muster/registry';
import { type Selectable } from 'kysely';

export const orgs = record('orgs', 'o', {
  slug: { set: true },
  name: { set: true },
  description: { set: true, empty: '' },
});
export type OrgRow = RowOf<typeof orgs>;
export const toOrg: (row: OrgRow) => Org = orgs.shown;

export async function getOrg(db: Db): Promise<Org> {
  return toOrg(await db.get(sql<OrgRow>`select ${orgs.list} from orgs o where o.id = ${organization}`));
}

/** Answers the organization as the subject of an event. */
export const aboutOrg = (org: Pick<OrgRow, 'id' | 'slug' | 'name'>): Subject =>
  subjectOf('org', org, org.name, org.slug);

export type LockedOrg = OrgRow & Pick<Selectable<DB['orgs']>, 'policy' | 'policy_version'>;

/** Locks the organization. Throws 401 if it was deleted while this call waited for the lock. */
export async function lockOrg(db: Db): Promise<LockedOrg> {
  const row = await db.find(
    sql<LockedOrg>`select ${orgs.list}, o.policy, o.policy_version from orgs o where o.id = ${organization} and o.deleted_at is null for no key update`,
  );
  if (row === undefined) throw unauthorized();
  return row;
}

/** Writes the current values of a locked organization. */
export const setOrg = (org: OrgRow): Query<unknown> =>
  sql`${sql.update('orgs', changing, org)} where id = ${organization}`;

const changing = ['slug', 'name', 'description', 'updated_at', 'version'] as const;

/** Marks the organization as deleted. A trigger revokes its tokens. */
export const markOrgDeleted = (at: string): Query<unknown> =>
  sql`update orgs set deleted_at = ${at}, updated_at = ${at} where id = ${organization}`;
