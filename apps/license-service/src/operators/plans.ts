import { sql } from '@muster/driver';
import { type Features } from '../features.ts';
import { usualProduct } from './products.ts';
import { type Db, Refused } from './transaction.ts';

/** How long a license lasts: from its first activation, until a day, or for ever. */
export type Term =
  | { readonly kind: 'for'; readonly seconds: number }
  | { readonly kind: 'until'; readonly expiresAt: string }
  | { readonly kind: 'perpetual' };

export interface Plan {
  readonly product: string;
  readonly name: string;
  /** Null: each issue says one. */
  readonly term: Exclude<Term, { kind: 'until' }> | null;
  readonly transferLimit: number;
  /** How many machines may hold one of its licenses at once. */
  readonly machineLimit: number;
  /** For how long a slot is lent each time; null: until the machine gives it up. */
  readonly leaseSeconds: number | null;
  readonly features: Features;
  readonly updatedAt: string;
}

export const usualTransferLimit = 3;
export const usualMachineLimit = 1;
export const mostMachines = 1_000;

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;

interface PlanRow {
  readonly product: string;
  readonly name: string;
  readonly duration_seconds: number | null;
  readonly perpetual: boolean;
  readonly transfer_limit: number;
  readonly machine_limit: number;
  readonly lease_seconds: number | null;
  readonly features: Features;
  readonly updated_at: string;
}

const toPlan = (row: PlanRow): Plan => ({
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
  updatedAt: row.updated_at,
});

/** Of one product, or of all. */
export const listPlans = async (db: Db, product?: string): Promise<Plan[]> =>
  (
    await db.all(
      sql<PlanRow>`select * from licenses.plans ${product === undefined ? sql`` : sql`where product = ${product}`}
        order by product, name`,
    )
  ).map(toPlan);

export async function findPlan(
  db: Db,
  name: string,
  product: string = usualProduct,
): Promise<Plan | undefined> {
  const row = await db.find(
    sql<PlanRow>`select * from licenses.plans where product = ${product} and name = ${name}`,
  );
  return row === undefined ? undefined : toPlan(row);
}

export interface PlanTerms {
  /** The usual one unless said. */
  readonly product?: string;
  readonly name: string;
  readonly term: Plan['term'];
  readonly transferLimit: number;
  /** One unless said. */
  readonly machineLimit?: number;
  /** Null unless said. */
  readonly leaseSeconds?: number | null;
  /** None unless said. */
  readonly features?: Features;
}

/** Makes the plan or gives it other terms. What was sold keeps its own, and has the features of now. */
export async function setPlan(
  db: Db,
  {
    product = usualProduct,
    name,
    term,
    transferLimit,
    machineLimit = usualMachineLimit,
    leaseSeconds = null,
    features = {},
  }: PlanTerms,
): Promise<Plan> {
  if (!namePattern.test(name)) {
    throw new Refused(
      'plan_name',
      'a plan is named with small letters, digits and . _ -, at most 64 of them',
    );
  }
  const row = await db.one(
    sql<PlanRow>`insert into licenses.plans (name, duration_seconds, perpetual, transfer_limit, machine_limit, features, lease_seconds,
       product)
     values (${name}, ${term?.kind === 'for' ? term.seconds : null}, ${term?.kind === 'perpetual'}, ${transferLimit},
       ${machineLimit}, ${features}, ${leaseSeconds}, ${product})
     on conflict (product, name) do update set duration_seconds = excluded.duration_seconds, perpetual = excluded.perpetual,
       transfer_limit = excluded.transfer_limit, machine_limit = excluded.machine_limit, features = excluded.features,
       lease_seconds = excluded.lease_seconds, updated_at = clock_timestamp()
     returning *`,
  );
  return toPlan(row);
}
