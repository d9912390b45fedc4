import { sql } from '@muster/driver';
import { type LicenseFeatures } from '../features.ts';
import { type LicenseMeters } from '../meters.ts';
import { type UpdatePolicy } from '../releases/records.ts';
import { defaultProduct } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

/** The term of a license: a duration from the first activation, a fixed end, or no end. */
export type Term =
  | { readonly kind: 'for'; readonly seconds: number }
  | { readonly kind: 'until'; readonly expiresAt: string }
  | { readonly kind: 'perpetual' };

export interface LicensePlan {
  readonly product: string;
  readonly name: string;
  /** The default term; null if each issue must state one. */
  readonly term: Exclude<Term, { kind: 'until' }> | null;
  readonly transferLimit: number;
  /** The number of machines that may hold one license at the same time. */
  readonly machineLimit: number;
  /** The duration of a slot lease; null if a machine keeps its slot until it releases it. */
  readonly leaseSeconds: number | null;
  readonly features: LicenseFeatures;
  readonly meters: LicenseMeters;
  /** The releases that licenses of the plan may download. */
  readonly updates: UpdatePolicy;
  readonly updatedAt: string;
}

export const defaultTransferLimit = 3;
export const defaultMachineLimit = 1;
export const maxMachinesPerLicense = 1_000;

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

interface PlanRow {
  readonly product: string;
  readonly name: string;
  readonly duration_seconds: number | null;
  readonly perpetual: boolean;
  readonly transfer_limit: number;
  readonly machine_limit: number;
  readonly lease_seconds: number | null;
  readonly features: LicenseFeatures;
  readonly meters: LicenseMeters;
  readonly updates: UpdatePolicy;
  readonly updated_at: string;
}

const toPlan = (row: PlanRow): LicensePlan => ({
  product: row.product,
  name: row.name,
  term: row.perpetual
    ? { kind: 'perpetual' }
    : row.duration_seconds === null
      ? null
      : { kind: 'for', seconds: row.duration_seconds },
  transferLimit: row.transfer_limit,
  machineLimit: row.machine_limit,
  leaseSeconds: row.lease_seconds,
  features: row.features,
  meters: row.meters,
  updates: row.updates,
  updatedAt: row.updated_at,
});

/** Lists the plans of one product or of all products. */
export const listPlans = async (db: Db, product?: string): Promise<LicensePlan[]> =>
  (
    await db.all(
      sql<PlanRow>`select * from licenses.plans ${product === undefined ? sql`` : sql`where product = ${product}`}
        order by product, name`,
    )
  ).map(toPlan);

export async function findPlan(
  db: Db,
  name: string,
  product: string = defaultProduct,
): Promise<LicensePlan | undefined> {
  const row = await db.find(
    sql<PlanRow>`select * from licenses.plans where product = ${product} and name = ${name}`,
  );
  return row === undefined ? undefined : toPlan(row);
}

export interface PlanTerms {
  /** The product; `defaultProduct` by default. */
  readonly product?: string;
  readonly name: string;
  readonly term: LicensePlan['term'];
  readonly transferLimit: number;
  /** The number of machines that may hold a license at the same time; 1 by default. */
  readonly machineLimit?: number;
  /** The duration of a slot lease in seconds; null, the default, does not lease slots. */
  readonly leaseSeconds?: number | null;
  /** The features; none by default. */
  readonly features?: LicenseFeatures;
  /** The usage meters; none by default. */
  readonly meters?: LicenseMeters;
  /** The releases that can be downloaded; by default all until the license expires. */
  readonly updates?: UpdatePolicy;
}

/** Creates or changes a plan. Sold licenses keep their terms but get the new features and meters. */
export async function setPlan(
  db: Db,
  {
    product = defaultProduct,
    name,
    term,
    transferLimit,
    machineLimit = defaultMachineLimit,
    leaseSeconds = null,
    features = {},
    meters = {},
    updates = {},
  }: PlanTerms,
): Promise<LicensePlan> {
  if (!namePattern.test(name))
    throw new RefusedError('plan_name', "a plan's name has at most 64 lower-case letters, digits and . _ -");
  const row = await db.one(
    sql<PlanRow>`insert into licenses.plans (name, duration_seconds, perpetual, transfer_limit, machine_limit, features, lease_seconds,
       product, meters, updates)
     values (${name}, ${term?.kind === 'for' ? term.seconds : null}, ${term?.kind === 'perpetual'}, ${transferLimit},
       ${machineLimit}, ${features}, ${leaseSeconds}, ${product}, ${meters}, ${updates})
     on conflict (product, name) do update set duration_seconds = excluded.duration_seconds, perpetual = excluded.perpetual,
       transfer_limit = excluded.transfer_limit, machine_limit = excluded.machine_limit, features = excluded.features,
       meters = excluded.meters, updates = excluded.updates,
       lease_seconds = excluded.lease_seconds, updated_at = clock_timestamp()
     returning *`,
  );
  return toPlan(row);
}
