/**
 * Creation of an organization by a signed-in person. It is not an operation, because there is no organization
 * in which to call it yet.
 */
import { type Db, newId, type Pool, sql } from '@muster/driver';
import { chooseNode, createOnNode, hasNodes, inSignIn, type SignInDb } from '@muster/placement';
import { OrgName } from '@muster/registry';
import { parseWith } from '@muster/runtime';
import { z } from 'zod';
import { handleFor, slugFor } from '../rules/handles.ts';
import { startingSeats } from '../rules/entitlement.ts';

const Beginning = z.strictObject({ name: OrgName });

export interface Founder {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** The facts about the request that the transport knows. */
export interface BeginningFacts {
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** The result of the creation. `owner` means that the account already owns an organization. */
export type Begun = { readonly slug: string } | 'owner';

/** The maximum number of slugs to try. A slug with six random digits is practically always free. */
const mostTries = 5;

/**
 * Creates a free organization with the account as its owner, on the server with the smallest database. The
 * slug is derived from the name. An account can own at most one organization that it created. Throws 400 for
 * an invalid name.
 */
export async function beginOrganization(
  pool: Pool,
  account: Founder,
  input: { readonly name: string },
  facts: BeginningFacts,
): Promise<Begun> {
  const { name } = parseWith(Beginning, input, 'Not a valid organization name.');
  const node = await chooseNode(pool);
  return oneByOne(pool, () =>
    inSignIn(pool, async (db) => {
      if (db.hasNodes && (await ownsOne(db, account.id))) return 'owner';
      const wanted = slugFor(name);
      let slug = wanted;
      for (let tries = 0; tries < mostTries; tries += 1) {
        const orgId = newId();
        const make = (there: Db) => makeOrganization(there, account, { orgId, slug, name }, facts);
        const outcome = await createOnNode(node, { orgId, slug }, async (at) => {
          const made = await (at === pool ? make(db) : inSignIn(at, make));
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

const beginnings = new WeakMap<Pool, Promise<unknown>>();

/**
 * Runs the creations of this process one after the other if there are several database servers. Reserving the
 * id on the primary server needs a second connection while another transaction there holds the account's
 * lock. With this queue only one caller at a time can wait for a second connection.
 */
function oneByOne<Result>(pool: Pool, work: () => Promise<Result>): Promise<Result> {
  if (!hasNodes(pool)) return work();
  const before = beginnings.get(pool) ?? Promise.resolve();
  const own = before.then(work, work);
  beginnings.set(
    pool,
    own.catch(() => undefined),
  );
  return own;
}

/**
 * Answers whether the account owns an organization. The advisory lock serializes concurrent calls of one
 * account, because each server knows only its own organizations.
 */
async function ownsOne(db: SignInDb, accountId: string): Promise<boolean> {
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

interface Named {
  readonly orgId: string;
  readonly slug: string;
  readonly name: string;
}

async function makeOrganization(
  db: Db,
  account: Founder,
  { orgId, slug, name }: Named,
  facts: BeginningFacts,
): Promise<'made' | 'owner' | 'taken'> {
  const { outcome } = await db.one(
    sql<{
      outcome: 'made' | 'owner' | 'taken';
    }>`select app.begin_organization(${account.id}::uuid, ${orgId}::uuid, ${newId()}::uuid,
         ${name}, ${slug}, ${handleFor(account.name, account.email)}, ${startingSeats.free}, ${newId()}::uuid,
         ${JSON.stringify(facts)}::jsonb) as outcome`,
  );
  return outcome;
}
