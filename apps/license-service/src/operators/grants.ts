/** What people may on the pages of support: granted by what the operators' issuer says of them, for one product each. */
import { newId, sql } from '@muster/driver';
import { locks } from './locks.ts';
import { getProduct, usualProduct } from './products.ts';
import { type Scope } from './tokens.ts';
import { type Db, Refused } from './transaction.ts';

/** What the pages offer; the other scopes are for programs. */
export const peopleScopes = ['read', 'change'] as const satisfies readonly Scope[];
export type PeopleScope = (typeof peopleScopes)[number];

/** Whom a grant is for: those of whom the issuer says this. */
export interface Whom {
  /** `email` for an address, which has to be verified. */
  readonly claim: string;
  readonly value: string;
}

export interface Grant extends Whom {
  readonly id: string;
  readonly product: string;
  readonly scopes: readonly PeopleScope[];
  /** Of an address: whose it is there since its first use; null before. */
  readonly subject: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly isGood: boolean;
}

const isGood = sql`revoked_at is null and coalesce(expires_at > clock_timestamp(), true)`;
const columns = sql`id, claim, value, product, scopes, subject, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt", ${isGood} as "isGood"`;

const claimForm = /^[\w.:/-]{1,128}$/;
const addressForm = /^[^\s@=]+@[^\s@]+\.[^\s@]+$/;
const mostOfValue = 320;

/** `ana@example.com`, or `groups=support`. */
export function whomOf(given: string): Whom {
  const place = given.indexOf('=');
  const [claim, value] = place < 0 ? ['email', given] : [given.slice(0, place), given.slice(place + 1)];
  const isFit =
    claimForm.test(claim) && value.trim() !== '' && value.length <= mostOfValue && !/\p{Cc}/u.test(value);
  if (!isFit || (claim === 'email' && !addressForm.test(value)))
    throw new Refused('whom', 'say an e-mail address, or a claim and its value: groups=support');
  return { claim, value: claim === 'email' ? value.toLowerCase() : value };
}

export const listGrants = (db: Db): Promise<Grant[]> =>
  db.all(sql<Grant>`select ${columns} from licenses.operator_grants order by id desc`);

export interface NewGrant extends Whom {
  readonly product?: string | undefined;
  readonly scopes: readonly PeopleScope[];
  /** For good unless said. */
  readonly seconds?: number | undefined;
}

/** Takes the place of the one for the same people and product; of an address, the next person who signs in with it has it. */
export async function makeGrant(
  db: Db,
  { claim, value, product: named = usualProduct, scopes, seconds }: NewGrant,
): Promise<Grant> {
  const { name: product } = await getProduct(db, named);
  await db.all(sql`select pg_advisory_xact_lock(${locks.grants})`);
  await db.all(sql`update licenses.operator_grants set revoked_at = clock_timestamp()
     where claim = ${claim} and value = ${value} and product = ${product} and revoked_at is null`);
  return db.one(
    sql<Grant>`insert into licenses.operator_grants (id, claim, value, product, scopes, expires_at)
      values (${newId()}, ${claim}, ${value}, ${product}, ${scopes},
        clock_timestamp() + make_interval(secs => ${seconds ?? null}::float8))
      returning ${columns}`,
  );
}

/** From the next request on it counts for nothing. */
export async function revokeGrant(db: Db, id: string): Promise<Grant> {
  const grant = await db.find(
    sql<Grant>`update licenses.operator_grants set revoked_at = coalesce(revoked_at, clock_timestamp())
      where id::text = ${id} returning ${columns}`,
  );
  if (grant === undefined) throw new Refused('not_found', 'no grant has this id (license operator list)');
  return grant;
}

/** The claims besides addresses that grants ask for. */
export const claimsAskedFor = (db: Db): Promise<Whom[]> =>
  db.all(
    sql<Whom>`select distinct claim, value from licenses.operator_grants where claim <> 'email' and ${isGood}`,
  );

/** A person, as the operators' issuer says who they are. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** `groups=support`. */
  readonly claims: readonly string[];
}

/** An address joins a grant to a person once; after that the person has it, whatever address they have. */
export async function takeUpGrants(
  db: Db,
  { issuer, subject }: Omit<Person, 'claims'>,
  address: string,
): Promise<void> {
  await db.all(sql`update licenses.operator_grants set issuer = ${issuer}, subject = ${subject}
     where claim = 'email' and value = ${address.toLowerCase()} and subject is null and ${isGood}`);
}

const isGrantedTo = ({ issuer, subject, claims }: Person) =>
  sql`${isGood} and case when claim = 'email' then issuer = ${issuer} and subject = ${subject}
    else claim || '=' || value = any (${claims}::text[]) end`;

/** What a person may at this moment, by product; nothing where nothing is granted. */
export async function rightsOf(db: Db, person: Person): Promise<ReadonlyMap<string, readonly Scope[]>> {
  const rows = await db.all(sql<{
    product: string;
    scopes: Scope[];
  }>`select product, array_agg(distinct scope) as scopes
     from licenses.operator_grants cross join unnest(scopes) scope where ${isGrantedTo(person)} group by product order by product`);
  return new Map(rows.map(({ product, scopes }) => [product, scopes]));
}

export async function noteUseOfGrants(db: Db, person: Person): Promise<void> {
  await db.all(
    sql`update licenses.operator_grants set last_used_at = clock_timestamp() where ${isGrantedTo(person)}`,
  );
}
