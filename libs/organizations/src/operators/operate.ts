/** The parts shared by all operator functions: the transaction, input validation, and lookups by name. */
import { BurstError, type Db, orgFilter, type Pool, sql, type DbForOrg } from '@muster/driver';
import { allNodes, databaseFor, type Node } from '@muster/placement';
import {
  type ApiError,
  forbidden,
  type Member,
  notFound,
  type Org,
  serviceUnavailable,
} from '@muster/contract';
import { parseWith, toApiError } from '@muster/runtime';
import { inOperatorTransaction } from '@muster/tenancy';
import { type z } from 'zod';
import { members, type MemberRow, toMember } from '../data/members.ts';
import { orgs, type OrgRow, toOrg } from '../data/orgs.ts';

/**
 * Converts failures that occur only on the command line: a database without migrations, or a login without
 * rights.
 */
function toSetupError(error: unknown): ApiError | undefined {
  switch (error instanceof BurstError ? error.sqlState : undefined) {
    case '42P01': // undefined table
    case '22023': // undefined role
      return serviceUnavailable('not_migrated');
    case '42501':
      return forbidden('not_operator');
    default:
      return undefined;
  }
}

/**
 * Runs one transaction on an owner's connection. Expected failures are thrown as ApiError, as for every call.
 */
export async function runAsOperator<Result>(
  pool: Pool,
  work: (db: Db, within: DbForOrg) => Promise<Result>,
): Promise<Result> {
  try {
    return await inOperatorTransaction(pool, work);
  } catch (error) {
    const known = toSetupError(error) ?? toApiError(error);
    throw known.code === 'internal' ? error : known;
  }
}

/**
 * Runs a transaction on the server of the organization with this slug. If there is no such organization, it
 * runs on the primary server, where the lookup fails.
 */
export async function runAsOperatorForOrganization<Result>(
  pool: Pool,
  slug: string,
  work: (db: Db, within: DbForOrg) => Promise<Result>,
): Promise<Result> {
  const found = await findOrganizationNode(pool, slug);
  return runAsOperator(found?.node.pool ?? pool, work);
}

/** Finds the server of an organization. Data that a moved organization left on its old server is ignored. */
export async function findOrganizationNode(
  pool: Pool,
  slug: string,
): Promise<{ readonly id: string; readonly node: Node } | undefined> {
  const faults: unknown[] = [];
  for (const at of allNodes(pool)) {
    try {
      const found = await runAsOperator(at.pool, (db) =>
        db.find(sql<{ id: string }>`select id from orgs where slug = ${slug} and deleted_at is null`),
      );
      if (found === undefined) continue;
      if (await databaseFor(pool, found.id).isHostedOn(at)) return { id: found.id, node: at };
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return undefined;
}

export const parseInput = <Output>(schema: z.ZodType<Output>, input: unknown): Output =>
  parseWith(schema, input, 'An argument is invalid.');

/**
 * Creates the error for a missing record. Operators may see everything, so unlike other callers they learn
 * what is missing.
 */
export const missingRecordError = (recordDescription: string): ApiError =>
  notFound(`There is no ${recordDescription}.`);

/** Finds the organization with this slug. Even operators do not find deleted organizations. */
export async function getOrgBySlug(db: Db, slug: string): Promise<Org> {
  const row = await db.find(
    sql<OrgRow>`select ${orgs.list} from orgs o where o.slug = ${slug} and o.deleted_at is null`,
  );
  if (row === undefined) throw missingRecordError(`organization "${slug}"`);
  return toOrg(row);
}

/** Finds the active member with this e-mail address, ignoring upper and lower case. */
export async function getMemberByEmail(db: Db, org: Org, email: string): Promise<Member> {
  const row = await db.find(
    sql<MemberRow>`select ${members.list} from members m
       where ${orgFilter('m')} and lower(m.email) = ${email.toLowerCase()} and m.status = 'active'`,
  );
  if (row === undefined) throw missingRecordError(`member "${email}" in ${org.slug}`);
  return toMember(row);
}
