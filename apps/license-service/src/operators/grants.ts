/** What people may on the pages of support: granted by what the operators' issuer says of them, for one product each. */
import { newId } from '@muster/driver';
import { locks } from './locks.ts';
import { getProduct, usualProduct } from './products.ts';
import { type Scope } from './tokens.ts';
import { type Ask, Refused } from './transaction.ts';

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

const isGood = 'revoked_at is null and coalesce(expires_at > clock_timestamp(), true)';
const columns = `id, claim, value, product, scopes, subject, created_at as "createdAt", expires_at as "expiresAt",
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

export const listGrants = (ask: Ask): Promise<Grant[]> =>
  ask(`select ${columns} from licenses.operator_grants order by id desc`);

export interface NewGrant extends Whom {
  readonly product?: string | undefined;
  readonly scopes: readonly PeopleScope[];
  /** For good unless said. */
  readonly seconds?: number | undefined;
}

/** Takes the place of the one for the same people and product; of an address, the next person who signs in with it has it. */
export async function makeGrant(
  ask: Ask,
  { claim, value, product: named = usualProduct, scopes, seconds }: NewGrant,
): Promise<Grant> {
  const { name: product } = await getProduct(ask, named);
  await ask(`select pg_advisory_xact_lock(${locks.grants})`);
  await ask(
    `update licenses.operator_grants set revoked_at = clock_timestamp()
     where claim = $1 and value = $2 and product = $3 and revoked_at is null`,
    [claim, value, product],
  );
  const [grant] = await ask<Grant>(
    `insert into licenses.operator_grants (id, claim, value, product, scopes, expires_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6::float8)) returning ${columns}`,
    [newId(), claim, value, product, scopes, seconds ?? null],
  );
  if (grant === undefined) throw new Error('a grant that was made is not there');
  return grant;
}

/** From the next request on it counts for nothing. */
export async function revokeGrant(ask: Ask, id: string): Promise<Grant> {
  const [grant] = await ask<Grant>(
    `update licenses.operator_grants set revoked_at = coalesce(revoked_at, clock_timestamp())
     where id::text = $1 returning ${columns}`,
    [id],
  );
  if (grant === undefined) throw new Refused('not_found', 'no grant has this id (license operator list)');
  return grant;
}

/** The claims besides addresses that grants ask for. */
export const claimsAskedFor = (ask: Ask): Promise<Whom[]> =>
  ask(`select distinct claim, value from licenses.operator_grants where claim <> 'email' and ${isGood}`);

/** A person, as the operators' issuer says who they are. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** `groups=support`. */
  readonly claims: readonly string[];
}

/** An address joins a grant to a person once; after that the person has it, whatever address they have. */
export async function takeUpGrants(
  ask: Ask,
  { issuer, subject }: Omit<Person, 'claims'>,
  address: string,
): Promise<void> {
  await ask(
    `update licenses.operator_grants set issuer = $1, subject = $2
     where claim = 'email' and value = $3 and subject is null and ${isGood}`,
    [issuer, subject, address.toLowerCase()],
  );
}

const isTheirs = `${isGood} and case when claim = 'email' then issuer = $1 and subject = $2
  else claim || '=' || value = any ($3::text[]) end`;

/** What a person may at this moment, by product; nothing where nothing is granted. */
export async function rightsOf(
  ask: Ask,
  { issuer, subject, claims }: Person,
): Promise<ReadonlyMap<string, readonly Scope[]>> {
  const rows = await ask<{ product: string; scopes: Scope[] }>(
    `select product, array_agg(distinct scope) as scopes
     from licenses.operator_grants cross join unnest(scopes) scope where ${isTheirs} group by product order by product`,
    [issuer, subject, claims],
  );
  return new Map(rows.map(({ product, scopes }) => [product, scopes]));
}

export async function noteUseOfGrants(ask: Ask, { issuer, subject, claims }: Person): Promise<void> {
  await ask(`update licenses.operator_grants set last_used_at = clock_timestamp() where ${isTheirs}`, [
    ...[issuer, subject, claims],
  ]);
}
