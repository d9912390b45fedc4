/** An organization that a person begins who signed in. It is no operation: there is no organization to call it in. */
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

/** What a transport knows of the request. */
export interface BeginningFacts {
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string | null;
}

/** `owner`: the account owns an organization already. */
export type Begun = { readonly slug: string } | 'owner';

/** A slug of six random digits more is free, or something is wrong. */
const mostTries = 5;

/**
 * Makes a free organization with the account as its owner, under a slug made of its name, at the least full server. An account owns one
 * at most that it made. Throws 400 for a name that does not fit.
 */
export async function beginOrganization(
  pool: Pool,
  account: Founder,
  input: { readonly name: string },
  facts: BeginningFacts,
): Promise<Begun> {
  const { name } = parseWith(Beginning, input, 'This is no name of an organization.');
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
      throw new Error('no slug was free');
    }),
  );
}

const beginnings = new WeakMap<Pool, Promise<unknown>>();

/**
 * Where there are nodes, a place is reserved at home while another transaction there keeps the account from beginning two: that is
 * two connections, of which one alone, of all who begin at once, may be waited for.
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

/** Of two calls of one account at once, one looks after the other is done: each server looks at itself alone. */
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
