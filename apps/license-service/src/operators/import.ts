/** Imports licenses that were sold elsewhere, with the keys of the customers or with new keys. */
import { newId, sql } from '@muster/driver';
import { hashKey, keyHintOf, type FormattedKey, generateKey } from '../key/key.ts';
import { termColumnsOf } from './issue.ts';
import { advisoryLockIds } from './locks.ts';
import { findPlan, type LicensePlan, setPlan, type Term, defaultTransferLimit } from './plans.ts';
import { type Product } from './products.ts';
import { type Db } from './transaction.ts';

/** A license to import. */
export interface IncomingLicense {
  readonly orderRef: string;
  /** The number of the license within its order, from 1. */
  readonly orderLine: number;
  readonly plan: string;
  /** The term of the license; the plan's term by default. */
  readonly term: Term | undefined;
  readonly customerRef: string | null;
  readonly transferLimit: number | undefined;
  readonly machineLimit: number | undefined;
  /** The existing key of the customer. Without one, a new key is created. */
  readonly key: FormattedKey | undefined;
}

export type LicenseImportOutcome =
  | { readonly kind: 'imported' | 'unchanged'; readonly id: string }
  /** A license with a new key. The key is stored nowhere else. */
  | { readonly kind: 'issued'; readonly id: string; readonly key: FormattedKey }
  | { readonly kind: 'refused'; readonly problem: string };

const refusedOutcome = (problem: string): LicenseImportOutcome => ({ kind: 'refused', problem });

interface ExistingLicense {
  readonly id: string;
  readonly orderRef: string;
  readonly orderLine: number;
  readonly plan: string;
  readonly keyHash: Buffer;
}

const orderLineKeyOf = ({ orderRef, orderLine }: Pick<ExistingLicense, 'orderRef' | 'orderLine'>): string =>
  `${orderLine} ${orderRef}`;

/** Reads which licenses exist for these orders, and which of the given keys exist already. */
async function findExisting(db: Db, product: string, batch: readonly IncomingLicense[]) {
  const known =
    await db.all(sql<ExistingLicense>`select id, l.order_ref as "orderRef", l.order_line as "orderLine", plan, key_hash as "keyHash"
     from licenses.licenses l join unnest(${batch.map(({ orderRef }) => orderRef)}::text[],
         ${batch.map(({ orderLine }) => orderLine)}::int[]) n (order_ref, order_line)
       on l.order_ref = n.order_ref and l.order_line = n.order_line
     where l.product = ${product}`);
  const hashes = batch.flatMap(({ key }) => (key === undefined ? [] : [hashKey(key)]));
  const taken = await db.all(
    sql<{ hash: string }>`select encode(key_hash, 'hex') as hash
      from licenses.licenses where key_hash = any(${hashes}::bytea[])`,
  );
  return {
    known: new Map(known.map((one) => [orderLineKeyOf(one), one])),
    taken: new Set(taken.map(({ hash }) => hash)),
  };
}

/** Returns the plans of a batch by name. Creates a missing plan if a row has a term. */
async function findOrCreatePlans(
  db: Db,
  product: string,
  batch: readonly IncomingLicense[],
): Promise<Map<string, LicensePlan>> {
  const plans = new Map<string, LicensePlan>();
  for (const { plan: name, term } of batch) {
    if (plans.has(name)) continue;
    const plan =
      (await findPlan(db, name, product)) ??
      (term && (await setPlan(db, { product, name, term: null, transferLimit: defaultTransferLimit })));
    if (plan !== undefined) plans.set(name, plan);
  }
  return plans;
}

interface NewLicense {
  readonly id: string;
  readonly key: FormattedKey;
  readonly row: IncomingLicense;
  readonly term: Term;
  readonly plan: LicensePlan;
}

const hasTermEnded = (term: Term): boolean =>
  term.kind === 'until' && Date.parse(term.expiresAt) <= Date.now();

async function insertLicenses(
  db: Db,
  product: string,
  newLicenses: readonly NewLicense[],
): Promise<Set<string>> {
  const ids = newLicenses.map(({ id }) => id);
  const terms = newLicenses.map(({ term }) => termColumnsOf(term));
  const rows = await db.all(sql<{ id: string }>`with made as (
       insert into licenses.licenses (id, key_hash, key_hint, plan, duration_seconds, expires_at, transfer_limit,
         customer_ref, order_ref, order_line, machine_limit, lease_seconds, product)
       select n.*, ${product}
       from unnest(${ids}::uuid[], ${newLicenses.map(({ key }) => hashKey(key))}::bytea[],
         ${newLicenses.map(({ key }) => keyHintOf(key))}::text[], ${newLicenses.map(({ plan }) => plan.name)}::text[],
         ${terms.map(([seconds]) => seconds)}::bigint[], ${terms.map(([, expiresAt]) => expiresAt)}::timestamptz[],
         ${newLicenses.map(({ row, plan }) => row.transferLimit ?? plan.transferLimit)}::int[],
         ${newLicenses.map(({ row }) => row.customerRef)}::text[], ${newLicenses.map(({ row }) => row.orderRef)}::text[],
         ${newLicenses.map(({ row }) => row.orderLine)}::int[],
         ${newLicenses.map(({ row, plan }) => row.machineLimit ?? plan.machineLimit)}::int[],
         ${newLicenses.map(({ plan }) => plan.leaseSeconds)}::int[]) n
       on conflict do nothing
       returning id, plan, order_ref)
     insert into licenses.license_events (id, license_id, kind, actor, epoch, data)
     select e.id, made.id, 'imported', 'operator', 0, jsonb_build_object('plan', plan, 'order', order_ref)
     from made join unnest(${ids}::uuid[], ${newLicenses.map(() => newId())}::uuid[]) e (license_id, id)
       on e.license_id = made.id
     returning license_id as id`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Imports a batch in one transaction and returns the outcome of each row. Importing the same rows again changes nothing.
 * For a dry run the caller rolls the transaction back.
 */
export async function importBatch(
  db: Db,
  { name: product, keyPrefix }: Pick<Product, 'name' | 'keyPrefix'>,
  batch: readonly IncomingLicense[],
): Promise<LicenseImportOutcome[]> {
  await db.all(sql`select pg_advisory_xact_lock(${advisoryLockIds.import})`);
  const { known, taken } = await findExisting(db, product, batch);
  const plans = await findOrCreatePlans(db, product, batch);
  const made: NewLicense[] = [];
  const outcomes = batch.map((row): LicenseImportOutcome => {
    const before = known.get(orderLineKeyOf(row));
    const hash = row.key && hashKey(row.key);
    if (before !== undefined) {
      const isSame = before.plan === row.plan && (hash === undefined || hash.equals(before.keyHash));
      return isSame
        ? { kind: 'unchanged', id: before.id }
        : refusedOutcome('this order already exists with other content');
    }
    if (hash !== undefined && taken.has(hash.toString('hex')))
      return refusedOutcome('this key already belongs to another order');
    const plan = plans.get(row.plan);
    if (plan === undefined)
      return refusedOutcome(`there is no plan ${row.plan}, and the row has no term to create it with`);
    const term = row.term ?? plan.term;
    if (term === null) return refusedOutcome(`plan ${plan.name} has no term, and the row has none either`);
    // A license with an existing key may be expired already. The machine that uses the key then gets the
    // refusal for expired licenses.
    if (row.key === undefined && hasTermEnded(term))
      return refusedOutcome('the license would already have expired');
    const key = row.key ?? generateKey(keyPrefix);
    const one = { id: newId(), key, row, term, plan };
    made.push(one);
    return row.key === undefined ? { kind: 'issued', id: one.id, key } : { kind: 'imported', id: one.id };
  });
  const insertedIds = await insertLicenses(db, product, made);
  return outcomes.map((outcome) =>
    (outcome.kind === 'imported' || outcome.kind === 'issued') && !insertedIds.has(outcome.id)
      ? refusedOutcome('it was issued at the same moment by another call; import it again')
      : outcome,
  );
}
