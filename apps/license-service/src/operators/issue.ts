/** Issues licenses. A new key is shown once and stored only as a hash. */
import { newId, sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { hashKey, keyHintOf, type FormattedKey, generateKey } from '../key/key.ts';
import { advisoryLockIds } from './locks.ts';
import { findPlan, type LicensePlan, setPlan, type Term, defaultTransferLimit } from './plans.ts';
import { getProduct, defaultProduct } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

export const maxLicensesPerOrder = 10_000;

export interface LicenseOrder {
  /** The product; `defaultProduct` by default. */
  readonly product?: string | undefined;
  readonly plan: string;
  /** The term of the licenses; the plan's term by default. */
  readonly term?: Term | undefined;
  readonly count?: number | undefined;
  /** The idempotency key: an order is issued only once. */
  readonly orderRef?: string | undefined;
  readonly customerRef?: string | undefined;
  readonly transferLimit?: number | undefined;
  /** The machine limit of the license; the plan's limit by default. */
  readonly machineLimit?: number | undefined;
  /** The license's own features, which override those of the plan. */
  readonly features?: LicenseFeatures | undefined;
}

export interface IssuedLicense {
  readonly id: string;
  /** The new key; null if the order was already issued, because a key is shown only once. */
  readonly key: FormattedKey | null;
  readonly hint: string;
}

export interface IssueResult {
  readonly plan: string;
  readonly licenses: readonly IssuedLicense[];
  /** True if licenses were already issued for this order, so that this call created none. */
  readonly isRepeated: boolean;
  /** True if the plan did not exist and this call created it. */
  readonly isNewPlan: boolean;
}

/** Returns the columns `duration_seconds` and `expires_at` of a term. Both are null if it never ends. */
export const termColumnsOf = (term: Term): [number | null, string | null] => [
  term.kind === 'for' ? term.seconds : null,
  term.kind === 'until' ? term.expiresAt : null,
];

async function findOrCreatePlan(
  db: Db,
  { product = defaultProduct, plan: name, term }: LicenseOrder,
): Promise<{ plan: LicensePlan; isNewPlan: boolean }> {
  const plan = await findPlan(db, name, product);
  if (plan !== undefined) return { plan, isNewPlan: false };
  if (term === undefined)
    throw new RefusedError(
      'unknown_plan',
      `there is no plan ${name}; give --for, --expires or --perpetual to create it`,
    );
  const made = await setPlan(db, { product, name, term: null, transferLimit: defaultTransferLimit });
  return { plan: made, isNewPlan: true };
}

/**
 * Locks an order of a product until the end of the transaction. Also takes the import lock as a shared lock, and so
 * waits for a running import, which may contain any order.
 */
const lockOrderSql = (product: string, orderRef: string) =>
  sql`select pg_advisory_xact_lock_shared(${advisoryLockIds.import}),
    /*guard: calls for one order wait*/pg_advisory_xact_lock(${advisoryLockIds.order}, hashtext(${`${product} ${orderRef}`}))/*end*/`;

interface ExistingOrderRow {
  readonly id: string;
  readonly key_hint: string;
  readonly plan: string;
}

/**
 * Locks an order and answers what was issued for it; undefined if it is new. The lock serializes calls for one order, so
 * the second call finds the licenses of the first.
 */
async function findOrder(db: Db, order: LicenseOrder, count: number): Promise<IssueResult | undefined> {
  const { product = defaultProduct, orderRef } = order;
  if (orderRef === undefined) return undefined;
  await db.all(lockOrderSql(product, orderRef));
  const rows = await db.all(
    sql<ExistingOrderRow>`select id, key_hint, plan from licenses.licenses
      where product = ${product} and order_ref = ${orderRef} order by order_line`,
  );
  if (rows.length === 0) return undefined;
  if (rows.length !== count || rows.some(({ plan }) => plan !== order.plan)) {
    const was = `${rows.length} of plan ${rows[0]?.plan ?? ''}`;
    throw new RefusedError('order_mismatch', `this order was already issued with other content: ${was}`);
  }
  const licenses = rows.map(({ id, key_hint: hint }) => ({ id, key: null, hint }));
  return { plan: order.plan, licenses, isRepeated: true, isNewPlan: false };
}

export async function issueLicenses(db: Db, order: LicenseOrder): Promise<IssueResult> {
  const { count = 1, orderRef = null, customerRef = null } = order;
  if (count < 1 || count > maxLicensesPerOrder)
    throw new RefusedError('count', `1 to ${maxLicensesPerOrder} licenses can be issued in one call`);
  const { name: product, keyPrefix } = await getProduct(db, order.product ?? defaultProduct);
  const before = await findOrder(db, order, count);
  if (before !== undefined) return before;
  const { plan, isNewPlan } = await findOrCreatePlan(db, order);
  const term = order.term ?? plan.term;
  if (term === null)
    throw new RefusedError('no_term', `plan ${plan.name} has no term: give --for, --expires or --perpetual`);
  if (term.kind === 'until' && Date.parse(term.expiresAt) <= Date.now())
    throw new RefusedError('past', 'the license would already have expired');
  const [durationSeconds, expiresAt] = termColumnsOf(term);
  const licenses = Array.from({ length: count }, () => {
    const key = generateKey(keyPrefix);
    return { id: newId(), eventId: newId(), key, hint: keyHintOf(key), hash: hashKey(key) };
  });
  await db.all(sql`with made as (
       insert into licenses.licenses (id, key_hash, key_hint, plan, duration_seconds, expires_at, transfer_limit,
         customer_ref, order_ref, order_line, features, machine_limit,
         lease_seconds, product)
       select n.id, n.hash, n.hint, ${plan.name}, ${durationSeconds}, ${expiresAt},
         ${order.transferLimit ?? plan.transferLimit}, ${customerRef}, ${orderRef}, n.line,
         ${order.features ?? {}}::jsonb, ${order.machineLimit ?? plan.machineLimit}, ${plan.leaseSeconds}, ${product}
       from unnest(${licenses.map(({ id }) => id)}::uuid[], ${licenses.map(({ hash }) => hash)}::bytea[],
         ${licenses.map(({ hint }) => hint)}::text[]) with ordinality n (id, hash, hint, line)
       returning id, order_line)
     insert into licenses.license_events (id, license_id, kind, actor, epoch, data)
     select e.id, made.id, 'issued', 'operator', 0,
       jsonb_build_object('plan', ${plan.name}::text, 'order', ${orderRef}::text)
     from made join unnest(${licenses.map(({ eventId }) => eventId)}::uuid[]) with ordinality e (id, line)
       on e.line = made.order_line`);
  const issued = licenses.map(({ id, key, hint }) => ({ id, key, hint }));
  return { plan: plan.name, licenses: issued, isRepeated: false, isNewPlan };
}
