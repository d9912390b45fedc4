/** What all of the operators' functions share: the transaction, the input, and how things are named. */
import { BurstError, type Db, of, type Pool, sql, type Within } from '@muster/driver';
import { allNodes, databaseFor, type Node } from '@muster/placement';
import { type ApiError, forbidden, type Member, notFound, type Org, unavailable } from '@muster/registry';
import { parseWith, toApiError } from '@muster/runtime';
import { asOperator } from '@muster/tenancy';
import { type z } from 'zod';
import { members, type MemberRow, toMember } from '../data/members.ts';
import { orgs, type OrgRow, toOrg } from '../data/orgs.ts';

/** Failures that only a command line can meet: a database that was not migrated, a login without rights. */
function ofSetUp(error: unknown): ApiError | undefined {
  switch (error instanceof BurstError ? error.sqlState : undefined) {
    case '42P01': // no such table
    case '22023': // no such role
      return unavailable('not_migrated');
    case '42501':
      return forbidden('not_operator');
    default:
      return undefined;
  }
}

/** One transaction on an owner's connection; what can be expected to go wrong is an ApiError, as for every call. */
export async function operate<Result>(
  pool: Pool,
  work: (db: Db, within: Within) => Promise<Result>,
): Promise<Result> {
  try {
    return await asOperator(pool, work);
  } catch (error) {
    const known = ofSetUp(error) ?? toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

/** The same at the server that the organization of that slug is at; at home where there is none, which says so. */
export async function operateOn<Result>(
  pool: Pool,
  slug: string,
  work: (db: Db, within: Within) => Promise<Result>,
): Promise<Result> {
  const found = await findOrganization(pool, slug);
  return operate(found?.at.pool ?? pool, work);
}

/** Where an organization is; what a server has of one that left it is not looked at. */
export async function findOrganization(
  pool: Pool,
  slug: string,
): Promise<{ readonly id: string; readonly at: Node } | undefined> {
  const faults: unknown[] = [];
  for (const at of allNodes(pool)) {
    try {
      const found = await operate(at.pool, (db) =>
        db.find(sql<{ id: string }>`select id from orgs where slug = ${slug} and deleted_at is null`),
      );
      if (found === undefined) continue;
      if (await databaseFor(pool, found.id).isOn(at)) return { id: found.id, at };
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return undefined;
}

export const parseInput = <Output>(schema: z.ZodType<Output>, input: unknown): Output =>
  parseWith(schema, input, 'Something given does not fit.');

/** An operator sees everything, so unlike a caller is told what is missing. */
export const noSuch = (what: string): ApiError => notFound(`There is no ${what}.`);

/** The organization of that slug; one that was deleted is gone for operators too. */
export async function getOrgBySlug(db: Db, slug: string): Promise<Org> {
  const row = await db.find(
    sql<OrgRow>`select ${orgs.list} from orgs o where o.slug = ${slug} and o.deleted_at is null`,
  );
  if (row === undefined) throw noSuch(`organization "${slug}"`);
  return toOrg(row);
}

/** The active member with that address, in any case. */
export async function getMemberByEmail(db: Db, org: Org, email: string): Promise<Member> {
  const row = await db.find(
    sql<MemberRow>`select ${members.list} from members m
       where ${of('m')} and lower(m.email) = ${email.toLowerCase()} and m.status = 'active'`,
  );
  if (row === undefined) throw noSuch(`member "${email}" in ${org.slug}`);
  return toMember(row);
}
