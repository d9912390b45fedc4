/** Grants of rights on the support pages. A grant matches a claim of the operators' issuer and covers one product. */
import { newId, sql } from '@muster/driver';
import { advisoryLockIds } from './locks.ts';
import { getProduct, defaultProduct } from './products.ts';
import { type OperatorScope } from './tokens.ts';
import { type Db, RefusedError } from './transaction.ts';

/** The scopes of the support pages. The other scopes are for programs. */
export const peopleScopes = ['read', 'change'] as const satisfies readonly OperatorScope[];
export type PeopleScope = (typeof peopleScopes)[number];

/** The claim by which a grant applies to people: those whose ID token has this value. */
export interface GrantClaim {
  /** The name of a claim in the ID token. The claim `email` matches only verified addresses. */
  readonly claim: string;
  readonly value: string;
}

export interface PersonGrant extends GrantClaim {
  readonly id: string;
  readonly product: string;
  readonly scopes: readonly PeopleScope[];
  /** The person who first signed in with the address of the grant; null before that. */
  readonly subject: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly isGood: boolean;
}

const isGrantValidSql = sql`revoked_at is null and coalesce(expires_at > clock_timestamp(), true)`;
const grantColumnsSql = sql`id, claim, value, product, scopes, subject, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt", ${isGrantValidSql} as "isGood"`;

const claimPattern = /^[\w.:/-]{1,128}$/;
const addressPattern = /^[^\s@=]+@[^\s@]+\.[^\s@]+$/;
const maxClaimValueLength = 320;

/** Parses an address such as `ana@example.com` or a claim such as `groups=support`. */
export function parseGrantClaim(claimText: string): GrantClaim {
  const place = claimText.indexOf('=');
  const [claim, value] =
    place < 0 ? ['email', claimText] : [claimText.slice(0, place), claimText.slice(place + 1)];
  const isFit =
    claimPattern.test(claim) &&
    value.trim() !== '' &&
    value.length <= maxClaimValueLength &&
    !/\p{Cc}/u.test(value);
  if (!isFit || (claim === 'email' && !addressPattern.test(value)))
    throw new RefusedError('whom', 'give an e-mail address, or a claim and its value: groups=support');
  return { claim, value: claim === 'email' ? value.toLowerCase() : value };
}

export const listGrants = (db: Db): Promise<PersonGrant[]> =>
  db.all(sql<PersonGrant>`select ${grantColumnsSql} from licenses.operator_grants order by id desc`);

export interface NewGrant extends GrantClaim {
  readonly product?: string | undefined;
  readonly scopes: readonly PeopleScope[];
  /** The lifetime of the grant; unlimited by default. */
  readonly seconds?: number | undefined;
}

/**
 * Creates a grant and revokes the earlier grant for the same claim, value and product. A new grant for an
 * e-mail address belongs to no person yet.
 */
export async function makeGrant(
  db: Db,
  { claim, value, product: named = defaultProduct, scopes, seconds }: NewGrant,
): Promise<PersonGrant> {
  const { name: product } = await getProduct(db, named);
  await db.all(sql`select pg_advisory_xact_lock(${advisoryLockIds.grants})`);
  await db.all(sql`update licenses.operator_grants set revoked_at = clock_timestamp()
     where claim = ${claim} and value = ${value} and product = ${product} and revoked_at is null`);
  return db.one(
    sql<PersonGrant>`insert into licenses.operator_grants (id, claim, value, product, scopes, expires_at)
      values (${newId()}, ${claim}, ${value}, ${product}, ${scopes},
        clock_timestamp() + make_interval(secs => ${seconds ?? null}::float8))
      returning ${grantColumnsSql}`,
  );
}

/** Revokes a grant, from the next request on. */
export async function revokeGrant(db: Db, id: string): Promise<PersonGrant> {
  const grant = await db.find(
    sql<PersonGrant>`update licenses.operator_grants set revoked_at = coalesce(revoked_at, clock_timestamp())
      where id::text = ${id} returning ${grantColumnsSql}`,
  );
  if (grant === undefined)
    throw new RefusedError('not_found', 'no grant has this id (see license operator list)');
  return grant;
}

/** Lists the claims other than `email` by which valid grants apply to people. */
export const listGrantedClaims = (db: Db): Promise<GrantClaim[]> =>
  db.all(
    sql<GrantClaim>`select distinct claim, value from licenses.operator_grants where claim <> 'email' and ${isGrantValidSql}`,
  );

/** A person as identified by the operators' issuer. */
export interface IssuerPerson {
  readonly issuer: string;
  readonly subject: string;
  /** The claims in the form `groups=support`. */
  readonly claims: readonly string[];
}

/** Binds unbound grants of an address to a person, who keeps them even if the address changes. */
export async function bindGrantsToPerson(
  db: Db,
  { issuer, subject }: Omit<IssuerPerson, 'claims'>,
  address: string,
): Promise<void> {
  await db.all(sql`update licenses.operator_grants set issuer = ${issuer}, subject = ${subject}
     where claim = 'email' and value = ${address.toLowerCase()} and subject is null and ${isGrantValidSql}`);
}

const isGrantedToSql = ({ issuer, subject, claims }: IssuerPerson) =>
  sql`${isGrantValidSql} and case when claim = 'email' then issuer = ${issuer} and subject = ${subject}
    else claim || '=' || value = any (${claims}::text[]) end`;

/** Returns the current scopes of a person by product. Products without a grant are missing. */
export async function grantedScopesByProduct(
  db: Db,
  person: IssuerPerson,
): Promise<ReadonlyMap<string, readonly OperatorScope[]>> {
  const rows = await db.all(sql<{
    product: string;
    scopes: OperatorScope[];
  }>`select product, array_agg(distinct scope) as scopes
     from licenses.operator_grants cross join unnest(scopes) scope where ${isGrantedToSql(person)} group by product order by product`);
  return new Map(rows.map(({ product, scopes }) => [product, scopes]));
}

export async function recordGrantUse(db: Db, person: IssuerPerson): Promise<void> {
  await db.all(
    sql`update licenses.operator_grants set last_used_at = clock_timestamp() where ${isGrantedToSql(person)}`,
  );
}
