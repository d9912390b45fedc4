/**
 * Creation of an organization by a signed-in person. It is not an operation, because there is no organization
 * in which to call it yet.
 */
import { type Db, newId, type Pool, sql } from '@muster/driver';
import {
  chooseNode,
  createOnNode,
  hasOtherNodes,
  inSignInTransaction,
  type SignInDb,
} from '@muster/placement';
import { OrgName } from '@muster/contract';
import { parseWith } from '@muster/runtime';
import { z } from 'zod';
import { deriveHandle, deriveOrganizationSlug } from '../rules/handles.ts';
import { defaultSeatsByPlan } from '../rules/entitlement.ts';

const OrganizationInput = z.strictObject({ name: OrgName });

export interface Founder {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** The facts about the request that the transport knows. */
export interface CreationRequestFacts {
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** The result of the creation. `owner` means that the account already owns an organization. */
export type OrganizationCreationResult = { readonly slug: string } | 'owner';

/** The maximum number of slugs to try. A slug with six random digits is practically always free. */
const maxSlugAttempts = 5;

/**
 * Creates a free organization with the account as its owner, on the server with the smallest database. The
 * slug is derived from the name. An account can own at most one organization that it created. Throws 400 for
 * an invalid name.
 */
export async function createOrganizationForAccount(
  pool: Pool,
  account: Founder,
  input: { readonly name: string },
  facts: CreationRequestFacts,
): Promise<OrganizationCreationResult> {
  const { name } = parseWith(OrganizationInput, input, 'Not a valid organization name.');
  const node = await chooseNode(pool);
  return runSequentially(pool, () =>
    inSignInTransaction(pool, async (db) => {
      if (db.hasNodes && (await ownsOrganization(db, account.id))) return 'owner';
      const wanted = deriveOrganizationSlug(name);
      let slug = wanted;
      for (let tries = 0; tries < maxSlugAttempts; tries += 1) {
        const orgId = newId();
        const make = (there: Db) => insertOrganization(there, account, { orgId, slug, name }, facts);
        const outcome = await createOnNode(node, { orgId, slug }, async (at) => {
          const made = await (at === pool ? make(db) : inSignInTransaction(at, make));
          return made === 'taken' ? undefined : made;
        });
        if (outcome === 'made') return { slug };
        if (outcome === 'owner') return 'owner';
        slug = `${wanted}-${newId().slice(-6)}`;
      }
      throw new Error('no free slug was found');
    }),
  );
}

const pendingCreations = new WeakMap<Pool, Promise<unknown>>();

/**
 * Runs the creations of this process one after the other if there are several database servers. Reserving the
 * id on the primary server needs a second connection while another transaction there holds the account's
 * lock. With this queue only one caller at a time can wait for a second connection.
 */
function runSequentially<Result>(pool: Pool, create: () => Promise<Result>): Promise<Result> {
  if (!hasOtherNodes(pool)) return create();
  const before = pendingCreations.get(pool) ?? Promise.resolve();
  const own = before.then(create, create);
  pendingCreations.set(
    pool,
    own.catch(() => undefined),
  );
  return own;
}

/**
 * Returns whether the account owns an organization. The advisory lock serializes concurrent calls of one
 * account, because each server knows only its own organizations.
 */
async function ownsOrganization(db: SignInDb, accountId: string): Promise<boolean> {
  await db.all(
    sql`select pg_advisory_xact_lock(hashtextextended('organization of ' || ${accountId}::text, 0))`,
  );
  const all = await db.everywhere(
    sql<{
      id: string;
      role: string;
    }>`select o.org_id as id, o.role from app.organizations_of(${accountId}::uuid) o`,
    ({ id }) => id,
    true,
  );
  return all.some(({ role }) => role === 'owner');
}

interface OrganizationIdentity {
  readonly orgId: string;
  readonly slug: string;
  readonly name: string;
}

async function insertOrganization(
  db: Db,
  account: Founder,
  { orgId, slug, name }: OrganizationIdentity,
  facts: CreationRequestFacts,
): Promise<'made' | 'owner' | 'taken'> {
  const { outcome } = await db.one(
    sql<{
      outcome: 'made' | 'owner' | 'taken';
    }>`select app.begin_organization(${account.id}::uuid, ${orgId}::uuid, ${newId()}::uuid,
         ${name}, ${slug}, ${deriveHandle(account.name, account.email)}, ${defaultSeatsByPlan.free}, ${newId()}::uuid,
         ${JSON.stringify(facts)}::jsonb) as outcome`,
  );
  return outcome;
}
